import assert from "node:assert/strict"
import { test } from "node:test"
import { seenIn } from "../../../../pages/parts/boards/live/script/stack/seen.js"
import { gridOf } from "./made.js"

/** @import { Model } from "../../../../pages/parts/boards/live/script/types.d.ts" */

/** @type {Model} */
const MODEL = {
  family: "decoder",
  layers: 2,
  heads: 1,
  kinds: ["self"],
  stacks: [{ kind: "self", prefix: "" }],
  gradients: [0, 1],
  kernel: 3,
  skips: true,
  question: "all",
  lead: 0,
  shortest: 3,
  lengths: "The model is trained on 3 tokens; shorter sequences are new to it.",
  parts: {},
  controls: false,
}

/** A snapshot of a model with a single layer. */
const snapshot = () => ({
  patterns: { self: gridOf([[[[1, 0, 0], [0.5, 0.5, 0], [0.25, 0.25, 0.5]]]]) },
  residual: { norm: [[1, 1, 1], [2, 2, 2]] },
})

test("a model with parts away is seen where they were", () => {
  const seen = seenIn(MODEL, snapshot(), { without: ["layer.0"], only: null })
  assert.ok(seen.known)
  assert.deepEqual(seen.places("self"), [null, 0])
  assert.deepEqual(seen.norms("self").map((row) => row?.[0]), [1, 1, 2])
  assert.ok(seen.skips("self", 0))
  assert.ok(seen.cut("layer", 0))
  assert.ok(!seenIn(MODEL, snapshot(), { without: [], only: null }).known, "a snapshot of another model is not drawn")
})

test("the path of an answer is told with the layers of the picture, and not where one head alone is drawn", () => {
  const reading = { which: /** @type {const} */ ("self"), layer: 0, head: 0, position: 2, read: 0, weight: 0.9 }
  const path = { arrives: true, carrier: "head", layer: 0, readings: [reading], words: [] }
  const look = { ...snapshot(), paths: [null, null, path] }
  const at = { kind: /** @type {const} */ ("reads"), place: 2 }
  const seen = seenIn(MODEL, look, { without: ["layer.0"], only: null })
  assert.deepEqual(seen.path(at), { ...path, layer: 1, readings: [{ ...reading, layer: 1 }] })
  assert.equal(seen.path({ ...at, place: 0 }), null)
  assert.equal(seen.path({ ...at, kind: "source" }), null)
  assert.equal(seenIn(MODEL, snapshot(), { without: ["layer.0"], only: null }).path(at), null, "an old recording")
  const only = { which: /** @type {const} */ ("self"), layer: 0, head: 0 }
  assert.equal(seenIn(MODEL, look, { without: ["layer.0"], only }).path(at), null)
})
