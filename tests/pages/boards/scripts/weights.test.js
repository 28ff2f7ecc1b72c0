import assert from "node:assert/strict"
import { test } from "node:test"
import { placesOf, statesOf, weightsOf } from "../../../../pages/parts/boards/live/script/stack/weights.js"
import { gridOf, sampleOf } from "./made.js"

test("a layer that is gone leaves the stream as it is", () => {
  assert.deepEqual(placesOf(4, (layer) => layer === 1), [0, null, 1, 2])
  assert.deepEqual(statesOf(["a", "b", "c", "d"], [0, null, 1, 2]), ["a", "b", "b", "c", "d"])
})

test("the weights of a layer are the mean of the heads that are there, or those of one alone", () => {
  const eye = [[1, 0], [0, 1]]
  const swap = [[0, 1], [1, 0]]
  const snapshot = { patterns: { self: gridOf([[eye, swap]]) } }
  assert.deepEqual(weightsOf(snapshot, "self", [0])?.layers, [new Float32Array([0.5, 0.5, 0.5, 0.5])])
  const only = { only: { layer: 0, head: 1 } }
  assert.deepEqual(weightsOf(snapshot, "self", [0], only)?.layers, [new Float32Array([0, 1, 1, 0])])
  const off = { off: (/** @type {number} */ _, /** @type {number} */ head) => head === 1 }
  assert.deepEqual(weightsOf(snapshot, "self", [0, null], off)?.layers, [new Float32Array([1, 0, 0, 1]), null])
  assert.equal(weightsOf(snapshot, "cross", [0]), null)
})

test("of a long sequence the weights are those of the last positions, whether all are sent or these alone", () => {
  const length = 98
  const rows = Array.from({ length }, (_, query) => Array.from({ length }, (_, key) => key === query - 2 ? 1 : 0))
  const samples = [sampleOf(Array(length).fill("1").join(" "))]
  const all = gridOf([[rows]])
  const last = gridOf([[rows.slice(2).map((row) => row.slice(2))]])
  for (
    const snapshot of [{ patterns: { self: all } }, {
      patterns: { self: { ...all, block: [2, 2] } },
      means: { self: last },
    }]
  ) {
    const found = weightsOf({ ...snapshot, samples }, "self", [0])
    assert.deepEqual([found?.queries, found?.keys, found?.firstQuery, found?.firstKey], [96, 96, 2, 2])
    const weights = found?.layers[0]
    assert.equal(weights?.[5 * 96 + 3], 1, "position 7 reads position 5")
    assert.equal(weights?.reduce((sum, weight) => sum + weight), 94)
  }
  const cut = weightsOf({ patterns: { self: gridOf([[[[1]]]]) }, samples }, "self", [0])
  assert.deepEqual([cut?.queries, cut?.keys], [0, 0], "patterns that were cut before")
})
