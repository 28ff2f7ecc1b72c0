// The highlighted place of a figure, which pointer and arrow keys set and which other figures share.

import { ARROWS, number } from "../../shell/script/dom.js"

/** @import { Foreign } from "../../shell/script/types.d.ts" */
/** @import { Card, FiguresBoard, Place } from "./types.d.ts" */

/**
 * Highlight a place in a panel, and in every other panel the parts it shares with it; null clears. From the keyboard,
 * announce it too.
 *
 * @param {FiguresBoard} board
 * @param {Card} panel
 * @param {Place | null} at
 */
export function point(board, panel, at, aloud = false) {
  /** @type {Record<string, number | string | undefined>} */
  const pointed = at ? { [panel.link[1]]: at.y, [panel.link[0]]: at.x, "": undefined } : {}
  for (const other of board.panels.values()) {
    const [x, y] = other.link.map((name) => pointed[name])
    placeBands(other, other === panel ? at : { x, y })
  }
  if (aloud && at) board.spoken.textContent = placeInWords(panel, at)
}

/**
 * Tell the page of a place that was clicked or entered.
 *
 * @param {FiguresBoard} board
 * @param {Card} panel
 * @param {Place} at
 */
function pick(board, panel, { x, y }) {
  if (panel.picks) board.trigger("picked", { panel: panel.id, x, y })
}

/** React to the pointer over a plot that has its first figure. */
export function listen(/** @type {FiguresBoard} */ board, /** @type {Card} */ panel) {
  if (panel.listening) return
  panel.listening = true
  const place = (/** @type {Foreign} */ { points: [{ x, y, z, text }] }) => /** @type {Place} */ ({ x, y, z, text })
  panel.plot.on?.("plotly_hover", (event) => point(board, panel, place(event)))
  panel.plot.on?.("plotly_unhover", () => point(board, panel, null))
  panel.plot.on?.("plotly_click", (event) => pick(board, panel, place(event)))
  panel.plot.on?.("plotly_relayout", (change) => {
    const mark = Object.keys(change).find((name) => /^shapes\[\d+\]\.xanchor$/.test(name)) // a mark that was dragged
    if (mark) pick(board, panel, { x: change[mark], y: "mark" })
  })
}

/**
 * Highlight the row and the column of a place in an overlay, as far as they are known, without redrawing the figure.
 */
export function placeBands(/** @type {Card} */ panel, /** @type {Place | null} */ at) {
  const heat = panel.drawn?.traces.find(({ type }) => type === "heatmap")
  const axes = panel.plot._fullLayout
  const [row, column] = panel.bands
  row.hidden = !axes || !heat || at?.y == null
  column.hidden = !axes || !(heat || panel.link[0]) || at?.x == null
  if (!at || (row.hidden && column.hidden)) return
  const { xaxis, yaxis, _size: whole } = axes // Several strips of bars are one figure.
  const [above, high] = heat ? [yaxis._offset, yaxis._length] : [whole.t, whole.h]
  /** Where a cell begins along an axis, and its length, in pixels; its value is a number, or a name in its order. */
  const span = (/** @type {Foreign} */ axis, /** @type {Foreign} */ value, step = 1) => {
    const ends = [-step / 2, step / 2].map((half) =>
      axis._offset + Math.min(Math.max(axis.l2p(value + half), 0), axis._length)
    )
    return [Math.min(...ends), Math.abs(ends[1] - ends[0])]
  }
  const place = (
    /** @type {HTMLElement} */ band,
    /** @type {number[]} */ [left, width],
    /** @type {number[]} */ [top, height],
  ) => {
    band.hidden ||= !width || !height // The place is outside the visible range.
    Object.assign(band.style, { left: `${left}px`, width: `${width}px`, top: `${top}px`, height: `${height}px` })
  }
  if (!row.hidden) place(row, [xaxis._offset, xaxis._length], span(yaxis, at.y, heat.dy))
  if (!column.hidden) place(column, span(xaxis, at.x, heat?.dx), [above, high])
}

/**
 * Arrow keys move over a heatmap's cells or a line's points, Enter picks.
 *
 * @param {FiguresBoard} board
 * @param {Card} panel
 * @param {KeyboardEvent} event
 */
export function stepThrough(board, panel, event) {
  const trace = panel.drawn?.traces[0]
  if (!trace || !panel.plot._fullData) return
  if (event.key === "Enter" && panel.at) return pick(board, panel, panel.at)
  if (event.key === "Escape") {
    board.plotly.Fx.unhover(panel.plot)
    return point(board, panel, null)
  }
  const step = ARROWS[event.key]
  if (!step) return
  event.preventDefault()
  const points = panel.plot._fullData[0]
  const heat = trace.type === "heatmap"
  const [rows, columns] = heat ? [points.z.length, points.z[0].length] : [1, points.x?.length ?? points.y.length]
  const turned = heat && panel.plot._fullLayout.yaxis.range[0] < panel.plot._fullLayout.yaxis.range[1] ? -1 : 1
  const [row, column] = panel.index ?? [0, -1]
  panel.index = [within(row + turned * step[1], rows), within(column + step[0], columns)]
  const [i, j] = panel.index
  const along = (/** @type {"x" | "y"} */ axis, /** @type {number} */ place) =>
    trace[axis]?.length ? trace[axis][place] : (trace[`${axis}0`] ?? 0) + place * (trace[`d${axis}`] ?? 1)
  panel.at = heat
    ? { x: along("x", j), y: along("y", i), z: points.z[i][j], text: points.text?.[i]?.[j] }
    : { x: points.x[j], y: points.y[j] }
  board.plotly.Fx.hover(panel.plot, [{ curveNumber: 0, pointNumber: heat ? [i, j] : j }])
  point(board, panel, panel.at, true)
}

const within = (/** @type {number} */ value, /** @type {number} */ count) => Math.min(Math.max(value, 0), count - 1)

/** A place and its value in words. */
function placeInWords(/** @type {Card} */ { figure, title }, /** @type {Place} */ at) {
  const name = (/** @type {string} */ axis, /** @type {string} */ fallback) =>
    figure.layout[axis]?.title?.text?.replaceAll("<br>", " ") ?? fallback
  const said = (/** @type {number | string | undefined} */ value) => (typeof value === "number" ? number(value) : value)
  const place = `${at.text ?? `${name("xaxis", "x")} ${said(at.x)}`}, ${name("yaxis", "y")} ${said(at.y)}`
  return `${title}: ${place}${at.z == null || !Number.isFinite(at.z) ? "" : `: ${number(at.z)}`}`
}
