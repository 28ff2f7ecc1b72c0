import assert from "node:assert/strict"
import { test } from "node:test"
import {
  chosenIn,
  flowTo,
  indicesOf,
  leadingTo,
  reachOf,
  readoutOf,
  statesOf,
  weightsOf,
} from "../../../../pages/parts/boards/live/script/stack/weights.js"
import { gridOf, sampleOf, snapshotOf } from "./made.js"

/** @import { Arc } from "../../../../pages/parts/boards/live/script/stack/weights.js" */
/** @import { Model, Path } from "../../../../pages/parts/boards/live/script/types.d.ts" */

test("an ablated layer leaves the stream as it is", () => {
  assert.deepEqual(indicesOf(4, (layer) => layer === 1), [0, null, 1, 2])
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
  const outside = weightsOf({ patterns: { self: gridOf([[[[1]]]]) }, samples }, "self", [0])
  assert.deepEqual([outside?.queries, outside?.keys], [0, 0], "patterns that were cut before")
})

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
  const readout = readoutOf(MODEL, snapshot(), { ablated: ["layer.0"], only: null })
  assert.ok(readout.known)
  assert.deepEqual(readout.indices("self"), [null, 0])
  assert.deepEqual(readout.norms("self").map((row) => row?.[0]), [1, 1, 2])
  assert.ok(readout.skips("self", 0))
  assert.ok(readout.isAblated("layer", 0))
  assert.ok(
    !readoutOf(MODEL, snapshot(), { ablated: [], only: null }).known,
    "a snapshot of another model is not drawn",
  )
})

test("the path of an answer is told with the layers of the picture, and not where one head alone is drawn", () => {
  const reading = { which: /** @type {const} */ ("self"), layer: 0, head: 0, position: 2, read: 0, weight: 0.9 }
  const path = { arrives: true, contributor: "head", layer: 0, readings: [reading], words: [] }
  const shown = { ...snapshot(), paths: [null, null, path] }
  const at = { kind: /** @type {const} */ ("reads"), position: 2 }
  const readout = readoutOf(MODEL, shown, { ablated: ["layer.0"], only: null })
  assert.deepEqual(readout.path(at), { ...path, layer: 1, readings: [{ ...reading, layer: 1 }] })
  assert.equal(readout.path({ ...at, position: 0 }), null)
  assert.equal(readout.path({ ...at, kind: "source" }), null)
  assert.equal(readoutOf(MODEL, snapshot(), { ablated: ["layer.0"], only: null }).path(at), null, "an old recording")
  const only = { which: /** @type {const} */ ("self"), layer: 0, head: 0 }
  assert.equal(readoutOf(MODEL, shown, { ablated: ["layer.0"], only }).path(at), null)
})

/** The shares of arcs by their layer, query and key. */
const sharesOf = (/** @type {Arc[]} */ arcs) =>
  Object.fromEntries(arcs.map(({ layer, query, key, share }) => [`${layer} ${query} ${key}`, share]))

test("without a skip connection all that a position has comes by attention", () => {
  const one = new Float32Array([1, 0, 0, 0.25, 0.75, 0, 0, 1, 0])
  const self = { queries: 3, keys: 3, firstQuery: 0, firstKey: 0, layers: [one, null, one] }
  const [whole, ablated] = [true, false].map((all) =>
    flowTo({ layers: 3, self, skips: (_, layer) => all || layer !== 2 }, { kind: "self", position: 2 })
  )
  const shares = sharesOf(whole.arcs)
  assert.equal(shares["2 2 1"], 0.5)
  assert.equal(shares["0 2 1"], 0.25, "half of what stayed")
  assert.ok(Math.abs(shares["0 1 0"] - 0.5 * 0.5 * 0.25) < 1e-9)
  assert.ok(!whole.arcs.some(({ layer }) => layer === 1), "an ablated layer passes everything on")
  assert.equal(sharesOf(ablated.arcs)["2 2 1"], 1)
  assert.ok(ablated.streams.every(({ position }) => position !== 2))
})

test("cross-attention leads to the encoder", () => {
  const of = (/** @type {number[]} */ matrix) => ({
    queries: 2,
    keys: 2,
    firstQuery: 0,
    firstKey: 0,
    layers: [new Float32Array(matrix)],
  })
  const [eye, swap] = [of([1, 0, 0, 1]), of([0, 1, 1, 0])]
  const model = { layers: 1, self: eye, cross: swap, encoder: eye, skips: () => true }
  const { arcs } = flowTo(model, { kind: "self", position: 0 })
  const found = Object.fromEntries(arcs.map(({ kind, query, key, share }) => [`${kind} ${query} ${key}`, share]))
  assert.deepEqual(found, { "cross 0 1": 0.5, "self 0 0": 0.25, "encoder 1 1": 0.25 })
})

test("convolutions reach twice as far in each layer", () => {
  const { arcs } = reachOf(3, 3, 20, () => false)
  const last = arcs.filter(({ layer }) => layer === 2).map(({ query, key }) => query - key)
  assert.deepEqual(new Set(last), new Set([0, 4, 8]))
  assert.equal(Math.min(...arcs.map(({ key }) => key)), 20 - 2 * (1 + 2 + 4))
})

test("an ablated convolution reaches nothing by itself", () => {
  const { arcs } = reachOf(2, 3, 20, (layer) => layer === 1)
  assert.deepEqual(arcs.map(({ layer, key }) => [layer, key]), [[0, 20], [0, 19], [0, 18]])
})

/**
 * A path by these heads of the self-attention, from the last layer down; null for one that does not arrive.
 *
 * @param {[number, number][] | null} heads
 * @returns {Path}
 */
const pathBy = (heads) => ({
  arrives: heads != null,
  layer: 1,
  contributor: "head",
  readings: (heads ?? []).map(([layer, head]) => ({ which: "self", layer, head, position: 0, read: 0, weight: 1 })),
  words: [],
})

/** The position that is chosen, of a sample that must write what it reads. */
const chosen = (/** @type {string} */ reads, /** @type {string} */ writes, /** @type {(Path | null)[]} */ paths = []) =>
  chosenIn(sampleOf(reads, writes), null, paths)?.position

test("where most answers are right a right one is followed, else a wrong one", () => {
  assert.equal(chosen("1 2 3 4", "1 2 3 9"), 2)
  assert.equal(chosen("1 2 3 4", "9 9 3 9"), 3)
  assert.equal(chosen("1 2 3 4", "1 9 9 4"), 2, "half of them is not most")
  assert.equal(chosen("1 2 3 4", "1 2 3 4"), 3)
})

test("of the right ones one is followed that arrives by most links, and by the same as most do", () => {
  const [usual, other] = [pathBy([[1, 0], [0, 1]]), pathBy([[1, 1], [0, 0]])]
  const short = pathBy([[1, 0]])
  assert.equal(chosen("1 2 3 4 5", "1 2 3 4 5", [usual, usual, other, short, pathBy(null)]), 1)
  assert.equal(chosen("1 2 3", "1 2 3", [pathBy([]), pathBy([]), pathBy(null)]), 1, "one that arrives")
})

test("of a long sequence a drawn position is followed, and what it reads is where it is in the sequence", () => {
  const length = 191
  const text = Array(length).fill("1").join(" ")
  const sample = sampleOf(text, [...Array(95).fill("1"), ...Array(95).fill("9"), "1"].join(" "))
  assert.equal(chosenIn(sample, null)?.position, 190, "as many are right as 96 of 191")
  assert.equal(chosenIn(sample, { kind: "reads", position: 100 })?.position, 100)
  assert.equal(chosenIn(sample, { kind: "reads", position: 94 })?.position, 190, "what is not drawn is not followed")
  const rows = Array.from({ length }, (_, query) => Array.from({ length }, (_, key) => key === query - 20 ? 1 : 0))
  const snapshot = { ...snapshotOf(sample), patterns: { self: gridOf([[rows]]) } }
  const model = /** @type {Model} */ (/** @type {unknown} */ ({
    family: "decoder",
    layers: 1,
    heads: 1,
    kinds: ["self"],
    stacks: [{ kind: "self", prefix: "" }],
    skips: true,
  }))
  const readout = readoutOf(model, snapshot, { ablated: [], only: null })
  const { arcs, streams } = leadingTo(model, readout, { kind: "reads", position: 150 })
  assert.deepEqual(arcs.map(({ query, key }) => [query, key]), [[150, 130]])
  assert.deepEqual(streams.map(({ position }) => position), [150])
})
