// The heads of a layer as small pictures of their attention, each a button.

import { decode } from "../grids.js"
import { el, toRgb } from "../../../shell/script/dom.js"

export const HEAD_COLORS = { light: "#1F4E9E", dark: "#8AB4F8" }

/**
 * A head as a button; its picture is drawn later.
 *
 * @param {"self" | "encoder" | "cross"} kind
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
 * @param {HTMLButtonElement} tile
 * @param {Object | null} grid [layer, head, query, key]
 * @param {number} place the head's place among all heads
 * @param {"light" | "dark"} theme
 */
export function drawTile(tile, grid, place, theme) {
  if (tile.drawn?.grid === grid && tile.drawn.place === place && tile.drawn.theme === theme) return
  tile.drawn = { grid, place, theme }
  const canvas = tile.firstChild
  const [rows, columns] = grid ? grid.shape.slice(-2) : [1, 1]
  if (canvas.width !== columns || canvas.height !== rows || !tile.image) {
    Object.assign(canvas, { width: columns, height: rows })
    tile.image = new ImageData(columns, rows)
    tile.cells = new Uint32Array(tile.image.data.buffer)
    tile.context = canvas.getContext("2d")
  }
  const [r, g, b] = toRgb(HEAD_COLORS[theme])
  const color = (b << 16) | (g << 8) | r // bytes of a pixel from the lowest on
  const values = grid && (grid.decoded ??= decode(grid))
  const start = place * rows * columns
  for (let at = 0; at < tile.cells.length; at++) {
    tile.cells[at] = grid ? (((255 * Math.sqrt(Math.min(1, values[start + at]))) << 24) | color) >>> 0 : 0
  }
  tile.context.putImageData(tile.image, 0, 0)
}
