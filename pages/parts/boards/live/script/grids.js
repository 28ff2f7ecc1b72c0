// Matrices of a live run: one byte a cell, and the scale to convert bytes to values.

/** @import { Exact, Grid } from "./types.d.ts" */

/** The values of a grid or an array as one flat array, row by row, last axis fastest; decoded once. */
export function valuesOf(/** @type {Grid | Exact} */ grid) {
  if (grid.decoded) return grid.decoded
  const { values, zero, step } = /** @type {Grid} */ (grid)
  const bytes = atob(values)
  const decoded = new Float32Array(bytes.length)
  for (let at = 0; at < bytes.length; at++) decoded[at] = (bytes.charCodeAt(at) - zero) * step
  return grid.decoded = decoded
}

/**
 * One [row, column] matrix out of a grid, by its place among the leading axes.
 *
 * @param {Grid | Exact} grid
 */
export function matrixOf(grid, place = 0) {
  const [rows, columns] = grid.shape.slice(-2)
  const values = valuesOf(grid)
  const start = place * rows * columns
  return Array.from({ length: rows }, (_, row) => values.subarray(start + row * columns, start + (row + 1) * columns))
}

/** All matrices [layer, head] side by side with empty cells between: tiles of size [high, wide] including the gap. */
export function mosaicOf(/** @type {Grid | Exact} */ grid, /** @type {number[]} */ [high, wide]) {
  const [rows, columns] = grid.shape.slice(-2)
  const [layers, heads] = [1, 1, ...grid.shape].slice(-4)
  const height = layers * high - (high - rows)
  const width = heads * wide - (wide - columns)
  const picture = Array.from({ length: height }, () => new Float32Array(width).fill(NaN))
  for (let layer = 0; layer < layers; layer++) {
    for (let head = 0; head < heads; head++) {
      matrixOf(grid, layer * heads + head).forEach((values, row) => {
        const target = picture[layer * high + row]
        for (let column = 0; column < columns; column++) target[head * wide + column] = values[column]
      })
    }
  }
  return picture
}
