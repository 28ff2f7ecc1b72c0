// A panel: a card with a heading, tools, and a plot that is one node from its first figure to its last; and its figure, which
// Python made, in the colours of the active theme.

import { el, fade } from "./dom.js"

/** @import { Board, Foreign, Panel, Plot, Theme } from "./types.d.ts" */

export const QUIET = { displayModeBar: false, responsive: false, doubleClick: "reset+autosize", showTips: false }
/** Of a figure with a mark that can be moved. */
const DRAGGED = { ...QUIET, edits: { shapePosition: true } }
/** The distance of two lines, as a share of the letters' size. */
export const LINE = 1.3
const COLOR_BAR = 70 // pixels for a key of colours with its numbers and title
const MAX_SHRINK = 1.4 // by what letters are divided at most, before every second name is left out
const TOUCH = globalThis.matchMedia("(pointer: coarse)").matches

/** A trace in the colours of the active theme: its scale, or its line and its marks. */
function coloured(/** @type {Foreign} */ trace, /** @type {Theme} */ theme) {
  if (trace.textfont) trace = { ...trace, ...larger({ textfont: trace.textfont }, theme.larger) }
  const color = trace.meta?.color?.[theme.name]
  const scale = trace.meta?.scale?.[theme.name]
  if (scale) {
    return trace.marker ? { ...trace, marker: { ...trace.marker, colorscale: scale } } : { ...trace, colorscale: scale }
  }
  if (!color) return trace
  if (trace.type === "bar") return { ...trace, marker: { ...trace.marker, color } }
  const painted = { ...trace, line: { ...trace.line, color } }
  if (trace.marker) painted.marker = { ...trace.marker, color, line: { ...trace.marker.line, color } }
  return painted
}

/** A heatmap whose columns have several names, such as head and key, with these as the text of every cell. */
function withText(/** @type {Foreign} */ trace) {
  /** @type {[string, number[]][]} */
  const names = Object.entries(trace.meta?.columns ?? {})
  if (names.length < 2) return trace
  const step = trace.dx ?? 1 // cells of the original in one drawn cell
  const text = Array.from(
    { length: names[0][1].length / step },
    (_, at) => names.map(([name, numbers]) => `${name} ${numbers[at * step]}`).join(", "),
  )
  return { ...trace, text: trace.meta.rows && Object.values(trace.meta.rows)[0].map(() => text) }
}

/**
 * A layout in the colours of the active theme.
 *
 * @param {Foreign} layout
 * @param {Theme} theme
 * @param {string} subject what zoom and legend choices belong to
 * @returns {Foreign}
 */
export function dressed(layout, theme, subject) {
  const lines = { gridcolor: fade(theme.ink, 0.12), linecolor: fade(theme.ink, 0.4), fixedrange: TOUCH }
  const { margin = {} } = layout
  layout = {
    ...larger(layout, theme.larger),
    margin: { ...margin, t: (margin.t ?? 0) + LINE * Math.max(0, theme.larger) },
  }
  const axes = Object.keys(layout).filter((name) => /^[xy]axis\d*$/.test(name))
  return {
    ...layout,
    autosize: true,
    uirevision: subject,
    dragmode: TOUCH ? false : "zoom",
    font: { ...layout.font, color: theme.ink, family: theme.font },
    hoverlabel: {
      ...layout.hoverlabel,
      bgcolor: theme.surface,
      bordercolor: theme.border,
      font: { color: theme.ink, family: theme.font, size: layout.font?.size },
    },
    ...Object.fromEntries(["xaxis", "yaxis", ...axes].map((name) => [name, { ...layout[name], ...lines }])),
    shapes: layout.shapes?.map((/** @type {Foreign} */ shape) => outlined(shape, theme)),
    annotations: layout.annotations?.map((/** @type {Foreign} */ note) => withNote(note, theme)),
  }
}

/**
 * A dressed layout in which no label touches the next in a plot of that size: a heatmap labels only every second row or
 * column, every third …, and names of several lines have smaller letters.
 */
export function apart(
  /** @type {Foreign} */ layout,
  /** @type {Foreign[]} */ [trace],
  /** @type {{clientWidth: number, clientHeight: number}} */ { clientWidth, clientHeight },
) {
  const { xaxis, yaxis, margin, font } = layout
  if (!clientHeight) return layout
  const sizeOf = (/** @type {Foreign} */ axis) => axis?.tickfont?.size ?? font.size ?? 12
  if (trace?.type === "heatmap") {
    const { z } = trace // rows, or their bytes with their shape
    const [rows, columns] = z.shape ? z.shape.split(",").map(Number) : [z.length, z[0]?.length]
    const row = (clientHeight - (margin.t ?? 0) - (margin.b ?? 0)) / rows
    const bar = trace.showscale === false ? 0 : COLOR_BAR
    const column = (clientWidth - (margin.l ?? 0) - (margin.r ?? 0) - bar) / columns
    const cell = yaxis.scaleanchor ? Math.min(row, column) : 0
    const letters = Math.max(...(xaxis.ticktext ?? []).map((/** @type {string} */ name) => name.length))
    const [wide, high] = [
      xaxis.tickangle ? 1.1 * sizeOf(xaxis) : 0.6 * letters * sizeOf(xaxis) + 2,
      1.1 * sizeOf(yaxis),
    ]
    const both = cell && Math.max(wide, high) / cell // a square has the same labels on both sides
    const labelled = (/** @type {Foreign} */ axis, /** @type {number} */ cells) =>
      (both && smaller(axis, cells, sizeOf(axis))) || thinned(axis, cells)
    return { ...layout, xaxis: labelled(xaxis, both || wide / column), yaxis: labelled(yaxis, both || high / row) }
  }
  const { ticktext, tickfont } = yaxis
  if (!(ticktext?.length > 1)) return layout
  const lines = Math.max(...ticktext.map((/** @type {string} */ name) => name.split("<br>").length))
  const size = sizeOf(yaxis)
  const below = LINE * size * (xaxis.title?.text ? 2 : 1) + 8
  const fits = (clientHeight - margin.t - Math.max(margin.b, below)) / ticktext.length / (LINE * lines)
  return { ...layout, yaxis: { ...yaxis, tickfont: { ...tickfont, size: Math.min(size, fits) } } }
}

/** An axis with smaller letters if its names then fit: a sequence without every second symbol reads as another one. */
function smaller(/** @type {Foreign} */ axis, /** @type {number} */ cells, /** @type {number} */ size) {
  const by = cells / (axis.tickvals?.[1] - axis.tickvals?.[0])
  return by > 1 && by <= MAX_SHRINK ? { ...axis, tickfont: { ...axis.tickfont, size: size / by } } : null
}

/** An axis with names, of which those are left out that would come nearer to another than so many cells. */
function thinned(/** @type {Foreign} */ axis, /** @type {number} */ cells) {
  const { tickvals, ticktext } = axis
  if (!(tickvals?.length > 1) || !ticktext) return axis
  const every = Math.max(1, Math.ceil(cells / (tickvals[1] - tickvals[0])))
  const thin = (/** @type {Foreign[]} */ all) => all.filter((_, index) => index % every === 0)
  return { ...axis, tickvals: thin(tickvals), ticktext: thin(ticktext) }
}

const mutedIn = (/** @type {Theme} */ { ink }) => fade(ink, 0.75)

/** A note is muted; one that is named by a pair of colours has that of the active theme. */
function withNote(/** @type {Foreign} */ note, /** @type {Theme} */ theme) {
  const color = note.name?.match(/#[0-9A-F]{6}/gi)?.[theme.name === "dark" ? 1 : 0] ?? mutedIn(theme)
  return { ...note, font: { ...note.font, color }, arrowcolor: color }
}

/**
 * Every size of letters in a part of a figure, so many pixels larger.
 *
 * @param {Foreign} part
 * @param {number} by
 * @returns {Foreign}
 */
function larger(part, by) {
  if (!by || part === null || typeof part !== "object") return part
  if (Array.isArray(part)) return part.map((one) => larger(one, by))
  const grown = (/** @type {string} */ key, /** @type {Foreign} */ value) =>
    /font$/.test(key) && value.size ? { ...value, size: value.size + by } : larger(value, by)
  return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, grown(key, value)]))
}

/** Level lines are muted, areas faint; what is named accent stands out. */
function outlined(/** @type {Foreign} */ shape, /** @type {Theme} */ theme) {
  const [accent, muted] = [shape.name === "accent", mutedIn(theme)]
  if (shape.type === "rect" && !accent) return { ...shape, fillcolor: fade(theme.ink, 0.07), line: { width: 0 } }
  return {
    ...shape,
    line: { ...shape.line, color: accent ? theme.ink : muted },
    label: shape.label && { ...shape.label, font: { ...shape.label.font, color: muted } },
  }
}

/**
 * A card of that id, with a heading of that level among those of the page. `waiting` stands in the place of the plot
 * until there is one.
 *
 * Whoever makes it adds its tools and sets `draw`, which the painter calls when the panel is `dirty` and near the
 * window.
 *
 * @param {{id: string, kind: string, title: string, tag: "h3" | "h4", level: number, waiting?: string,
 *   plotted?: boolean}} given
 * @returns {Panel}
 */
export function newPanel({ id, kind, title, tag, level, waiting = "", plotted = true }) {
  const heading = el(tag, { "aria-level": level }, title)
  const tools = el("div", { class: "tools" })
  /** @type {Plot} */
  const plot = el("div", { class: "plot", role: "img", "aria-label": waiting ? `${title}: ${waiting}` : title })
  const wait = el("p", { class: "waiting", hidden: !waiting }, waiting)
  const body = el("div", { class: "body" }, ...(plotted ? [plot] : []), wait)
  const root = el(
    "article",
    { class: `panel ${kind}`, "data-id": id, "aria-label": title },
    el("header", {}, heading, tools),
    body,
  )
  return {
    id,
    title,
    plotted,
    detail: "",
    root,
    heading,
    tools,
    body,
    plot,
    wait,
    dirty: true,
    near: false,
    drawnAt: 0,
    drawn: null,
    draw: () => {},
  }
}

/**
 * Put a figure into a panel or bring it up to date; zoom and legend choices stay as long as the subject is the same, by
 * default the board's.
 *
 * @param {Board} board
 * @param {Panel} panel
 * @param {Foreign[]} traces
 * @param {Foreign} layout
 * @param {string} subject
 * @returns {void}
 */
export function put(board, panel, traces, layout, subject = board.subject) {
  if (panel.plot._dragging) return void (panel.dirty = true)
  const { theme } = board
  panel.wait.hidden = true
  panel.plot.hidden = false
  const shown = traces.map((trace) => coloured(withText(trace), theme))
  // Columns may grow in place; without this Plotly sees no change.
  const revision = (panel.plot.layout?.datarevision ?? 0) + 1
  board.plotly.react(
    panel.plot,
    shown,
    { ...apart(dressed(layout, theme, subject), shown, panel.plot), datarevision: revision },
    panel.drags ? DRAGGED : QUIET,
  )
  panel.drawn = { traces: shown, layout }
  panel.plot.dataset.draws = `${Number(panel.plot.dataset.draws ?? 0) + 1}`
}
