// What the tests draw: grids, samples, snapshots, and the measures of a picture.

/** @import { Sample, Snapshot } from "../../../../pages/parts/boards/live/script/types.d.ts" */

/** The measures of a picture, for layoutOf. */
export const USUAL = {
  width: 1120,
  layers: 4,
  heads: 4,
  kinds: 1,
  positions: 23,
  sources: 0,
  controls: true,
  longest: 1,
}

/** A sample that must write what it reads. */
export function sampleOf(/** @type {string} */ text, written = text) {
  const [tokens, predictions] = [text.split(" "), written.split(" ")]
  return { source: [], tokens, targets: tokens, predictions, marks: tokens.map((one, at) => one === predictions[at]) }
}

/** A snapshot without attention. */
export const snapshotOf = (/** @type {Sample} */ sample) => /** @type {Snapshot} */ ({
  step: 9,
  samples: [sample],
  patterns: {},
  encoding: {},
})

/** A grid of these matrices [layer, head, query, key] of weights from 0 to 1, as pages/parts/charts/heat.py makes it. */
export function gridOf(/** @type {number[][][][]} */ matrices) {
  const shape = [matrices.length, matrices[0].length, matrices[0][0].length, matrices[0][0][0].length]
  const bytes = matrices.flat(3).map((weight) => String.fromCharCode(Math.round(255 * weight)))
  return { shape, whole: shape, block: [1, 1], low: 0, high: 1, zero: 0, step: 1 / 255, values: btoa(bytes.join("")) }
}
