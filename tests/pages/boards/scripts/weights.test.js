import assert from "node:assert/strict"
import { test } from "node:test"
import { placesOf, statesOf, weightsOf } from "../../../../pages/parts/boards/live/script/stack/weights.js"
import { gridOf } from "./made.js"

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
