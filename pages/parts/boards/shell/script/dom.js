// Helpers for the document: elements from text only, addresses, the active theme.

/** An element with attributes, handlers (on...) and children. Text always becomes text nodes, never markup. */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node[name] = value
    else if (value !== false && value != null) node.setAttribute(name, value === true ? "" : value)
  }
  node.append(...children)
  return node
}

/** An element of a drawing, with attributes and children. */
export function drawing(name, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name)
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value)
  node.append(...children)
  return node
}

/** The app's base address on any page and behind any proxy prefix; this script lies in a folder of it. */
export function appAddress() {
  return new URL("../", import.meta.url).href
}

/** Plotly, loaded once for the document from the app itself. */
export function loadPlotly(address) {
  globalThis.attentionLabPlotly ??= new Promise((resolve, reject) => {
    const script = el("script", { src: new URL(address, appAddress()).href, async: true })
    script.onload = () => resolve(globalThis.Plotly)
    script.onerror = () => reject(new Error("Plotly could not be loaded"))
    document.head.append(script)
  })
  return globalThis.attentionLabPlotly
}

/** The theme's name, which chooses one colour of each pair, and the colours that figures share with the page. */
export function readTheme(host) {
  const style = getComputedStyle(host)
  const value = (name) => style.getPropertyValue(`--st-${name}`).trim()
  const [r, g, b] = toRgb(value("background-color") || "#ffffff")
  const letters = parseFloat(getComputedStyle(document.documentElement).fontSize)
  const room = Boolean(style.getPropertyValue("--room"))
  return {
    name: 0.299 * r + 0.587 * g + 0.114 * b > 128 ? "light" : "dark",
    ink: value("text-color") || "#222222",
    surface: value("secondary-background-color") || "#ffffff",
    border: value("border-color") || "#88888855",
    font: value("font") || "sans-serif",
    room, // whether the page is shown to a room full of people
    larger: room ? 1.2 * letters - 15 : letters - 16, // pixels
  }
}

/** A link to the glossary, beside a title. */
export function termLink(slug, title) {
  const words = `What this means: ${title}`
  const href = new URL(`glossary?term=${encodeURIComponent(slug)}`, appAddress()).href
  return el("a", { class: "term", target: "_blank", rel: "noopener", href, title: words, "aria-label": words }, "?")
}

export function toRgb(color) {
  const hex = color.match(/^#(..)(..)(..)/)
  return hex ? hex.slice(1).map((part) => parseInt(part, 16)) : (color.match(/[\d.]+/g) ?? [255, 255, 255]).map(Number)
}

export function fade(color, share) {
  const [r, g, b] = toRgb(color)
  return `rgba(${r},${g},${b},${share})`
}

export const number = (
  value,
  digits = 3,
) => (Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en") : Number(value.toPrecision(digits)).toString())

export function duration(seconds) {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`
  return `${(seconds / 3600).toFixed(1)} h`
}
