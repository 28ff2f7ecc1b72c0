// The heads of a layer as small pictures of their attention, each a button.

import { valuesOf } from "../grids.js"
import { headName } from "./seen.js"
import { el, toRgb } from "../../../shell/script/dom.js"

/** @import { Grid, Which } from "../types.d.ts" */

/**
 * What a tile shows, and on what it is drawn.
 *
 * @typedef {{grid: Grid | null, place: number, theme: string, context: CanvasRenderingContext2D, image: ImageData}}
 *   Drawn
 */

/** @type {WeakMap<HTMLElement, Drawn>} */
const drawnOn = new WeakMap()

export const HEAD_COLORS = { light: "#1F4E9E", dark: "#8AB4F8" }

/**
 * A head as a button; its picture is drawn later.
 *
 * @param {Which} kind
 * @param {number} layer
 * @param {number} head
 * @returns {HTMLButtonElement}
 */
export function headTile(kind, layer, head) {
  const which = { self: "", encoder: "encoder, ", cross: "reading the encoder, " }[kind]
  const name = `${which}layer ${layer + 1}, head ${head + 1}`
  return el(
    "button",
    {
      type: "button",
      class: `tile ${kind}`,
      tabindex: -1,
      title: name,
      "aria-label": `Attention of ${name}`,
      "aria-pressed": false,
      "data-name": headName({ which: kind, layer, head }),
      "data-kind": kind,
      "data-layer": layer,
      "data-head": head,
    },
    el("canvas", { width: 1, height: 1, "aria-hidden": true }),
  )
}

/**
 * The canvas of a tile with so many cells.
 *
 * @param {HTMLElement} tile
 * @param {number} columns
 * @param {number} rows
 * @returns {Pick<Drawn, "context" | "image">}
 */
function sizedAnew(tile, columns, rows) {
  const canvas = /** @type {HTMLCanvasElement} */ (tile.querySelector("canvas"))
  Object.assign(canvas, { width: columns, height: rows })
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"))
  return { context, image: new ImageData(columns, rows) }
}

/**
 * Draw a head's matrix: the stronger a weight, the less transparent its cell, by its root, so that weak ones are seen
 * too.
 *
 * @param {HTMLElement} tile
 * @param {Grid | null} grid [layer, head, query, key]
 * @param {number} place the head's place among all heads
 * @param {"light" | "dark"} theme
 */
export function drawTile(tile, grid, place, theme) {
  const drawn = drawnOn.get(tile)
  if (drawn && drawn.grid === grid && drawn.place === place && drawn.theme === theme) return
  const [rows, columns] = grid ? grid.shape.slice(-2) : [1, 1]
  const fits = drawn && drawn.image.width === columns && drawn.image.height === rows
  const { context, image } = fits ? drawn : sizedAnew(tile, columns, rows)
  drawnOn.set(tile, { grid, place, theme, context, image })
  const cells = new Uint32Array(image.data.buffer)
  const [r, g, b] = toRgb(HEAD_COLORS[theme])
  const color = (b << 16) | (g << 8) | r // bytes of a pixel from the lowest on
  const values = grid ? valuesOf(grid) : null
  const start = place * rows * columns
  for (let at = 0; at < cells.length; at++) {
    cells[at] = values ? (((255 * Math.sqrt(Math.min(1, values[start + at]))) << 24) | color) >>> 0 : 0
  }
  context.putImageData(image, 0, 0)
}
