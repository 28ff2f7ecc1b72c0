// Helpers for the document: elements from text only, addresses, the active theme.

/** @import { Foreign, Theme } from "./types.d.ts" */

/**
 * An element with attributes, handlers (on...) and children. Text always becomes text nodes, never markup.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, unknown> & Partial<GlobalEventHandlers>} attributes
 * @param {(Node | string)[]} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) Object.assign(node, { [name]: value })
    else if (value !== false && value != null) node.setAttribute(name, value === true ? "" : `${value}`)
  }
  node.append(...children)
  return node
}

/**
 * An element of a drawing, with attributes and children.
 *
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} name
 * @param {Record<string, string | number>} attributes
 * @param {(Node | string)[]} children
 * @returns {SVGElementTagNameMap[Tag]}
 */
export function drawing(name, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name)
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, `${value}`)
  node.append(...children)
  return node
}

/**
 * Set the text of a node; without a difference nothing is changed, and without a text the node is hidden.
 *
 * @param {HTMLElement} node
 * @param {string | undefined} text
 */
export function setText(node, text = "") {
  if (node.textContent !== text) node.textContent = text
  node.hidden = !text
}

/** Replace the children of a node; without a difference nothing is changed, so that the browser does no new layout. */
export function holdOnly(/** @type {Element} */ parent, /** @type {Element[]} */ nodes) {
  if (nodes.length !== parent.children.length || nodes.some((node, at) => parent.children[at] !== node)) {
    parent.replaceChildren(...nodes)
  }
}

/** @type {Record<string, [number, number]>} where each leads: to the right, and down */
export const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }

/** The address of a path of the app, on any page and behind any proxy prefix; this script lies in a folder of it. */
export const inApp = (/** @type {string} */ path) => new URL(`../${path}`, import.meta.url).href

/**
 * Plotly, loaded once for the document from the app itself, after what the first picture needs.
 *
 * @param {string} address
 * @returns {Promise<Foreign>}
 */
export function loadPlotly(address) {
  globalThis.attentionLabPlotly ??= new Promise((resolve, reject) => {
    const script = el("script", { src: inApp(address), async: true, fetchpriority: "low" })
    script.onload = () => resolve(globalThis.Plotly)
    script.onerror = () => reject(new Error("Plotly could not be loaded"))
    document.head.append(script)
  })
  return globalThis.attentionLabPlotly
}

/**
 * The theme's name, which chooses one colour of each pair, and the colours that figures share with the page.
 *
 * @param {HTMLElement} host
 * @returns {Theme}
 */
export function readTheme(host) {
  const style = getComputedStyle(host)
  const value = (/** @type {string} */ name) => style.getPropertyValue(`--st-${name}`).trim()
  const [r, g, b] = toRgb(value("background-color"))
  const name = 0.299 * r + 0.587 * g + 0.114 * b > 128 ? "light" : "dark"
  const letters = parseFloat(getComputedStyle(document.documentElement).fontSize)
  const room = Boolean(style.getPropertyValue("--room"))
  return {
    name,
    ink: value("text-color"),
    surface: value("secondary-background-color"),
    border: value("border-color"),
    heads: style.getPropertyValue(`--color-heads-${name}`),
    font: value("font") || "sans-serif",
    room,
    larger: room ? 1.2 * letters - 15 : letters - 16,
  }
}

/** A link to the glossary, beside a title. */
export function termLink(/** @type {string} */ slug, /** @type {string} */ title) {
  const words = `What this means: ${title}`
  const href = inApp(`glossary?term=${encodeURIComponent(slug)}`)
  return el("a", { class: "term", target: "_blank", rel: "noopener", href, title: words, "aria-label": words }, "?")
}

/** The three numbers of a colour, which is written as #rrggbb or as rgb(r, g, b). */
export function toRgb(/** @type {string} */ color) {
  const hex = color.match(/^#(..)(..)(..)/)
  return hex ? hex.slice(1).map((part) => parseInt(part, 16)) : (color.match(/[\d.]+/g) ?? [255, 255, 255]).map(Number)
}

/** A colour that shows so much of itself. */
export function fade(/** @type {string} */ color, /** @type {number} */ share) {
  const [r, g, b] = toRgb(color)
  return `rgba(${r},${g},${b},${share})`
}

/**
 * A number in words: with so many digits, from 1000 on as a whole number.
 *
 * @param {number} value
 */
export function number(value, digits = 3) {
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString("en")
  return Number(value.toPrecision(digits)).toString()
}

/** A time in words. */
export function duration(/** @type {number} */ seconds) {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`
  return `${(seconds / 3600).toFixed(1)} h`
}
