// A panel: a card with a heading, tools, and a plot that is one node from its first figure to its last.

import { el } from "./dom.js"
import { apart, coloured, DRAGGED, dressed, QUIET, withText } from "./figure.js"

/** @import { Board, Foreign, Panel, Plot } from "./types.d.ts" */

/**
 * A card of that id, with a heading of that level among those of the page. `waiting` stands in the place of the plot
 * until there is one.
 *
 * Whoever makes it adds its tools and sets `draw`, which the painter calls when the panel is `dirty` and near the
 * window.
 *
 * @param {{id: string, kind: string, title: string, tag: "h3" | "h4", level: number, waiting?: string,
 *   plotted?: boolean}} told
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
 * Put a figure into a panel or bring it up to date; zoom and legend choices stay as long as the board's subject is the
 * same.
 *
 * @param {Board} board
 * @param {Panel} panel
 * @param {Foreign[]} traces
 * @param {Foreign} layout
 * @returns {void}
 */
export function put(board, panel, traces, layout) {
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
    { ...apart(dressed(layout, theme, board.subject), shown, panel.plot), datarevision: revision },
    panel.drags ? DRAGGED : QUIET,
  )
  panel.drawn = { traces: shown, layout }
  panel.plot.dataset.draws = `${Number(panel.plot.dataset.draws ?? 0) + 1}`
}
