// Grids for the tests, as pages/parts/charts/heat.py makes them of weights from 0 to 1.

/** @import { Grid } from "../../../../pages/parts/boards/live/script/types.d.ts" */

/**
 * A grid of these matrices [layer, head, query, key], one byte a cell.
 *
 * @param {number[][][][]} matrices
 * @returns {Grid}
 */
export function gridOf(matrices) {
  const shape = [matrices.length, matrices[0].length, matrices[0][0].length, matrices[0][0][0].length]
  const bytes = matrices.flat(3).map((weight) => String.fromCharCode(Math.round(255 * weight)))
  return { shape, whole: shape, block: [1, 1], low: 0, high: 1, zero: 0, step: 1 / 255, values: btoa(bytes.join("")) }
}
