// The heads of a layer as small pictures of their attention, each a button.

import { valuesOf } from "../grids.js"
import { headName } from "./seen.js"
import { el, toRgb } from "../../../shell/script/dom.js"

/** @import { Grid, Which } from "../types.d.ts" */

/** @type {WeakMap<HTMLElement, {grid: Grid | null, place: number, theme: string}>} what each tile shows */
const drawnOn = new WeakMap()

const HEAD_COLORS = { light: "#1F4E9E", dark: "#8AB4F8" }

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
  drawnOn.set(tile, { grid, place, theme })
  const [rows, columns] = grid ? grid.shape.slice(-2) : [1, 1]
  const canvas = /** @type {HTMLCanvasElement} */ (tile.querySelector("canvas"))
  if (canvas.width !== columns || canvas.height !== rows) Object.assign(canvas, { width: columns, height: rows })
  const image = new ImageData(columns, rows)
  const cells = new Uint32Array(image.data.buffer)
  const [r, g, b] = toRgb(HEAD_COLORS[theme])
  const color = (b << 16) | (g << 8) | r // bytes of a pixel from the lowest on
  const values = grid ? valuesOf(grid).subarray(place * rows * columns, (place + 1) * rows * columns) : []
  values.forEach((weight, at) => cells[at] = (((255 * Math.sqrt(Math.min(1, weight))) << 24) | color) >>> 0)
  canvas.getContext("2d")?.putImageData(image, 0, 0)
}
