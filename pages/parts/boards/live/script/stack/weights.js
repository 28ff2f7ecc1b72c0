// The attention weights of a snapshot, one matrix for each layer: the mean of its heads, or a single head.

import { valuesOf } from "../grids.js"
import { firstsOf, MOST_POSITIONS } from "./layout.js"

/** @import { Snapshot, Which } from "../types.d.ts" */

/**
 * @typedef {Object} Weights
 * @property {number} queries
 * @property {number} keys
 * @property {number} firstQuery the position of the first query
 * @property {number} firstKey
 * @property {(Float32Array | null)[]} layers row by row, [query * keys + key]; null for a layer that is gone
 */

/**
 * The weights of one kind of attention, of the drawn positions.
 *
 * @param {Pick<Snapshot, "patterns" | "means"> & Partial<Pick<Snapshot, "samples">>} snapshot
 * @param {Which} kind
 * @param {(number | null)[]} places the place in the snapshot of each layer of the model; null for a layer that is gone
 * @param {{only?: {layer: number, head: number} | null, off?: (layer: number, head: number) => boolean}} heads the one
 *   head that counts in its layer, and those that are taken away
 * @returns {Weights | null} null where the snapshot has no attention of this kind
 */
export function weightsOf(snapshot, kind, places, { only = null, off = () => false } = {}) {
  const whole = snapshot?.patterns?.[kind]
  if (!whole) return null
  const mean = whole.block.some((cells) => cells > 1) ? snapshot.means?.[kind] : null
  const grid = mean ?? whole
  const [rows, columns] = grid.shape.slice(-2)
  const firsts = firstsOf(snapshot.samples?.[0])
  const [firstQuery, firstKey] = [
    firsts[kind === "encoder" ? "source" : "reads"],
    firsts[kind === "self" ? "reads" : "source"],
  ]
  const [row, column] = mean ? [0, 0] : [firstQuery, firstKey] // of the grid
  const [queries, keys] = [rows - row, columns - column].map((count) => Math.max(0, Math.min(MOST_POSITIONS, count)))
  const heads = mean ? 1 : grid.shape[1]
  const values = valuesOf(grid)
  const layers = places.map((place, layer) => {
    if (place == null || place >= grid.shape[0]) return null
    const counted = mean ? [0] : headsOf(layer, heads, only, off)
    const sum = new Float32Array(queries * keys)
    for (const head of counted) {
      for (let query = 0; query < queries; query++) {
        const start = ((place * heads + head) * rows + row + query) * columns + column
        for (let key = 0; key < keys; key++) sum[query * keys + key] += values[start + key] / counted.length
      }
    }
    return sum
  })
  return { queries, keys, firstQuery, firstKey, layers }
}

/**
 * The heads that count in a layer.
 *
 * @param {number} layer
 * @param {number} heads
 * @param {{layer: number, head: number} | null} only
 * @param {(layer: number, head: number) => boolean} off
 */
function headsOf(layer, heads, only, off) {
  if (only?.layer === layer) return [only.head]
  return Array.from({ length: heads }, (_, head) => head).filter((head) => !off(layer, head))
}

/** The place in a snapshot of each layer of the model; null for one that is gone. */
export function placesOf(/** @type {number} */ layers, /** @type {(layer: number) => boolean} */ gone) {
  let there = 0
  return Array.from({ length: layers }, (_, layer) => (gone(layer) ? null : there++))
}

/**
 * A row of a snapshot's residual stream for each state of the model: a layer that is gone leaves the stream as it is.
 *
 * @template T
 * @param {T[] | undefined} rows before the first layer and after each
 * @param {(number | null)[]} places as placesOf gives them
 * @returns {(T | undefined)[]}
 */
export function statesOf(rows, places) {
  let state = 0
  return [rows?.[0], ...places.map((place) => rows?.[place == null ? state : (state = place + 1)])]
}
