// Downloads of a figure, made in the browser: PNG, SVG, and the numbers.

import { drawing, el } from "./dom.js"
import { apart, dressed, LINE } from "./figure.js"

/** @import { Board, Figure, Foreign, Panel, Picture, Slide } from "./types.d.ts" */

/**
 * The download menu of a panel: a picture for slides, a vector drawing for papers, numbers for everything else.
 *
 * `board` knows `plotly`, `theme`, `data.name`, and `data.stamp`, with which names of files end; `panel` its `title`, `detail`, `plot` and what is `drawn` there,
 * and, where its numbers lie elsewhere, `exact`: a promise of the traces that hold them, or of null. A panel with a
 * result also has its `slide`: the words around the figure. A panel without a plot has a `picture` instead: a function
 * that gives {text, width, height} of an SVG file.
 */
export function downloads(/** @type {Board} */ board, /** @type {Panel} */ panel) {
  const save = async (/** @type {string} */ format) => {
    missing.hidden = true
    const heading = [panel.title, panel.detail, board.data.name].filter(Boolean).join(", ")
    const { stamp } = board.data
    const words = `${board.data.name || "figure"} ${panel.title} ${panel.detail ?? ""}`.trim()
    const name = `${words.replace(/[^\p{L}\p{N}]+/gu, "-").toLowerCase()}-${stamp}`
    if (panel.picture) return savePicture(`${name}.${format}`, panel.picture(), format, stamp)
    const { drawn } = panel
    if (!drawn) return
    if (format === "csv") {
      const traces = panel.exact ? await panel.exact() : panel.plot._fullData
      if (traces) return saveText(`${name}.csv`, csvOf(traces))
      missing.hidden = false
      menu.open = true
      return
    }
    const { theme } = board
    const layout = dressed(drawn.layout, theme, "")
    const margin = { ...layout.margin, t: (layout.margin?.t ?? 30) + 40 }
    const title = { text: plainText(heading), font: { size: layout.font?.size }, x: 0.02, y: 0.97, yanchor: "top" }
    const [width, height] = [panel.plot.offsetWidth, panel.plot.offsetHeight + 40]
    const legend = { ...layout.legend, y: 1 - 34 / height }
    const figure = {
      data: drawn.traces,
      layout: { ...layout, margin, title, legend, paper_bgcolor: theme.surface },
    }
    const image = await board.plotly.toImage(figure, { format, width, height, scale: format === "png" ? 3 : 1 })
    saveImage(`${name}.${format}`, image, stamp)
  }
  const saveSlide = async (/** @type {string} */ format) => {
    if (!panel.slide || !panel.figure) return
    const { name, stamp } = board.data
    const picture = await slideOf(board.plotly, panel.figure, panel.slide)
    savePicture(`${name}-slide-${stamp}.${format}`, picture, format, stamp)
  }
  const item = (/** @type {string} */ text, /** @type {() => void} */ act, hidden = false) => {
    const onclick = () => {
      menu.open = false
      act()
    }
    return el("button", { type: "button", role: "menuitem", hidden, onclick }, text)
  }
  const slides = ["png", "svg"].map((format) => item(`Slide (${format.toUpperCase()})`, () => saveSlide(format), true))
  const alone = Boolean(panel.picture)
  const missing = el(
    "p",
    { role: "alert", hidden: true },
    "The exact numbers are not available. The server may have deleted the run.",
  )
  const summary = el("summary", { "aria-label": `Download ${panel.title}`, title: "Download" }, "⤓")
  const menu = el(
    "details",
    { class: "menu" },
    summary,
    el(
      "div",
      { role: "menu" },
      item("Picture (PNG)", () => save("png")),
      item("Drawing (SVG)", () => save("svg")),
      ...slides,
      item("Data (CSV)", () => save("csv"), alone),
      item("Reset zoom", () => resetZoom(board, panel), alone),
      missing,
    ),
  )
  menu.ontoggle = () => slides.forEach((button) => (button.hidden = !panel.slide))
  menu.onkeydown = (event) => {
    if (event.key === "Escape") {
      menu.open = false
      summary.focus()
    }
  }
  menu.addEventListener("focusout", (event) => {
    if (!menu.contains(/** @type {Node | null} */ (event.relatedTarget))) menu.open = false
  })
  return menu
}

const SLIDE = { width: 800, height: 450, edge: 32, font: "Arial, Helvetica, sans-serif" }

/**
 * A figure with the words around it, which leave it what height they do not need. A slide leaves the app for another
 * program: it is light, as the figure was made, and has letters that every machine has.
 *
 * @param {Foreign} plotly
 * @param {Figure} figure
 * @param {Slide} words
 * @returns {Promise<Picture>}
 */
async function slideOf(plotly, { data, layout }, { title, quantity, sentence, foot }) {
  const { width, height, edge, font } = SLIDE
  const [wide, faint] = [width - 2 * edge, { "fill-opacity": 0.75 }]
  const above = [paragraph(title, 28, wide, { "font-weight": 700 }), paragraph(quantity, 15, wide, faint)]
  const below = [paragraph(sentence, 19, wide), paragraph(foot, 12, wide, faint)]
  const top = placed(above, edge - 8) + 4
  const bottom = height - edge + 6 - below.reduce((sum, { high }) => sum + high + 6, 0)
  placed(below, bottom + 6)
  const size = { width: wide, height: bottom - top }
  const ticktext = layout.yaxis.ticktext?.map((/** @type {string} */ name) => name.replaceAll("<br>", " "))
  const plain = { ...layout, font: { ...layout.font, family: font }, yaxis: { ...layout.yaxis, ticktext } }
  const fitting = apart(plain, data, { clientWidth: size.width, clientHeight: size.height })
  const address = await plotly.toImage({ data, layout: fitting }, { format: "svg", ...size })
  const plot = new DOMParser().parseFromString(svgIn(address), "image/svg+xml").documentElement
  plot.setAttribute("x", `${edge}`)
  plot.setAttribute("y", `${top}`)
  const root = { xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}` }
  const letters = drawing(
    "g",
    { "font-family": font, fill: layout.font.color },
    ...[...above, ...below].map(({ node }) => node),
  )
  const svg = drawing("svg", root, drawing("rect", { width, height, fill: "white" }), letters, plot)
  return { text: new XMLSerializer().serializeToString(svg), width, height }
}

/**
 * A text in lines that are at most so wide, and its height.
 *
 * @param {string} text
 * @param {number} size
 * @param {number} wide
 * @param {Record<string, number>} style
 */
function paragraph(text, size, wide, style = {}) {
  const pen = /** @type {CanvasRenderingContext2D} */ (el("canvas").getContext("2d"))
  pen.font = `${style["font-weight"] ?? 400} ${size}px ${SLIDE.font}`
  /** @type {string[]} */
  const lines = []
  for (const word of text.split(/\s+/)) {
    const longer = lines.length ? `${lines[lines.length - 1]} ${word}` : word
    if (lines.length && pen.measureText(longer).width <= wide) lines[lines.length - 1] = longer
    else lines.push(word)
  }
  const spans = lines.map((line, at) => drawing("tspan", { x: SLIDE.edge, dy: at ? LINE * size : size }, line))
  return { node: drawing("text", { "font-size": size, ...style }, ...spans), high: LINE * size * lines.length }
}

/** Place paragraphs under one another from there on; returns where the last one ends. */
function placed(/** @type {ReturnType<typeof paragraph>[]} */ paragraphs, /** @type {number} */ top) {
  for (const { node, high } of paragraphs) {
    node.setAttribute("y", `${top}`)
    top += high + 6
  }
  return top
}

/** Show what a figure shows at first. */
function resetZoom(/** @type {Board} */ board, /** @type {Panel} */ panel) {
  if (!panel.drawn) return
  /** @type {Record<string, unknown>} */
  const change = {}
  for (const name of ["xaxis", "yaxis"]) {
    const { range, autorange = true } = panel.drawn.layout[name] ?? {}
    if (range) change[`${name}.range`] = [...range]
    else change[`${name}.autorange`] = autorange
  }
  board.plotly.relayout(panel.plot, change)
}

/** Escape a run's name: Plotly interprets some markup in titles. */
const plainText = (/** @type {string} */ text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;")

/** A heatmap cell by cell, with the array's own cells even where blocks are drawn; lines point by point. */
function csvOf(/** @type {Foreign[]} */ traces) {
  const cell = (/** @type {Value} */ value) => {
    const text = `${value ?? ""}`
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
  }
  const picture = traces.find(({ type, meta }) => type === "heatmap" && meta?.rows)
  const rows = picture ? cellsOf(picture) : pointsOf(traces)
  return rows.map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n"
}

/** @typedef {string | number | null | undefined} Value of a cell of the saved table */

/**
 * The table of a heatmap.
 *
 * @param {Foreign} trace
 * @returns {Value[][]}
 */
function cellsOf({ z, customdata, meta: { label, rows, columns } }) {
  /** @type {(named: Record<string, number[]>, axis: number) => [string, number[], number][]} */
  const along = (named, axis) => Object.entries(named).map(([name, numbers]) => [name, numbers, axis])
  const [high, wide] = [along(rows, 0), along(columns, 1)]
  const fields = [...high.slice(0, -1), ...wide.slice(0, -1), ...high.slice(-1), ...wide.slice(-1)]
  /** @type {Value[][]} */
  const lines = [["series", ...fields.map(([name]) => name), "value"]]
  ;(customdata ?? z).forEach((/** @type {ArrayLike<number>} */ values, /** @type {number} */ row) => {
    for (let column = 0; column < values.length; column++) {
      if (values[column] != null && !Number.isNaN(values[column])) {
        lines.push([label, ...fields.map(([, numbers, axis]) => numbers[axis ? column : row]), digits(values, column)])
      }
    }
  })
  return lines
}

/**
 * The table of lines.
 *
 * @param {Foreign[]} traces
 * @returns {Value[][]}
 */
function pointsOf(traces) {
  /** @type {Value[][]} */
  const lines = [["series", "x", "y", "value"]]
  for (const { x, y = [], x0 = 0, dx = 1, meta, name } of traces) {
    for (let at = 0; at < y.length; at++) {
      lines.push([meta?.label ?? name, x?.length ? digits(x, at) : x0 + at * dx, digits(y, at), ""])
    }
  }
  return lines
}

/** Nine digits identify every float32 number. */
function digits(/** @type {ArrayLike<number>} */ values, /** @type {number} */ at) {
  const value = values[at]
  return values instanceof Float32Array && Number.isFinite(value) ? Number(value.toPrecision(9)) : value
}

/**
 * A drawing as it is, or painted three times as large.
 *
 * @param {string} name
 * @param {Picture} picture
 * @param {string} format
 * @param {string} stamp
 */
async function savePicture(name, { text, width, height }, format, stamp) {
  if (format === "svg") return saveText(name, withOrigin(text, stamp), "image/svg+xml")
  const image = new Image()
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`
  await image.decode()
  const canvas = el("canvas", { width: 3 * width, height: 3 * height })
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"))
  context.drawImage(image, 0, 0, canvas.width, canvas.height)
  saveAddress(name, canvas.toDataURL("image/png"))
}

/**
 * Save an image that Plotly made, a drawing with its origin in it.
 *
 * @param {string} name
 * @param {string} address
 * @param {string} stamp
 */
function saveImage(name, address, stamp) {
  if (!address.startsWith("data:image/svg+xml,")) return saveAddress(name, address)
  saveText(name, withOrigin(svgIn(address), stamp), "image/svg+xml")
}

/** The text of a drawing that Plotly made. */
const svgIn = (/** @type {string} */ address) => decodeURIComponent(address.slice(address.indexOf(",") + 1))

/** A drawing with the app, its version, commit and date as metadata: the name of a file is easily lost. */
const withOrigin = (/** @type {string} */ text, /** @type {string} */ stamp) =>
  text.replace(/<svg\b[^>]*>/, (root) => `${root}<metadata>Attention Lab ${stamp}</metadata>`)

/**
 * Save a text as a file.
 *
 * @param {string} name
 * @param {string} text
 */
function saveText(name, text, type = "text/csv") {
  const address = URL.createObjectURL(new Blob([text], { type }))
  saveAddress(name, address)
  setTimeout(() => URL.revokeObjectURL(address), 10_000)
}

const saveAddress = (/** @type {string} */ name, /** @type {string} */ href) =>
  el("a", { href, download: name }).click()
