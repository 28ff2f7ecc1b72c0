import assert from "node:assert/strict"
import { test } from "node:test"
import { flowTo, reachOf } from "../../../../pages/parts/boards/live/script/stack/flow.js"

/** @import { Arc } from "../../../../pages/parts/boards/live/script/stack/flow.js" */

/** The shares of arcs by their layer, query and key. */
const sharesOf = (/** @type {Arc[]} */ arcs) =>
  Object.fromEntries(arcs.map(({ layer, query, key, share }) => [`${layer} ${query} ${key}`, share]))

test("without a skip connection all that a position has comes by attention", () => {
  const one = new Float32Array([1, 0, 0, 0.25, 0.75, 0, 0, 1, 0])
  const self = { queries: 3, keys: 3, firstQuery: 0, firstKey: 0, layers: [one, null, one] }
  const [whole, cut] = [true, false].map((all) =>
    flowTo({ layers: 3, self, skips: (_, layer) => all || layer !== 2 }, { kind: "self", place: 2 })
  )
  const shares = sharesOf(whole.arcs)
  assert.equal(shares["2 2 1"], 0.5)
  assert.equal(shares["0 2 1"], 0.25, "half of what stayed")
  assert.ok(Math.abs(shares["0 1 0"] - 0.5 * 0.5 * 0.25) < 1e-9)
  assert.ok(!whole.arcs.some(({ layer }) => layer === 1), "a layer that is gone passes everything on")
  assert.equal(sharesOf(cut.arcs)["2 2 1"], 1)
  assert.ok(cut.streams.every(({ place }) => place !== 2))
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
  const { arcs } = flowTo(model, { kind: "self", place: 0 })
  const found = Object.fromEntries(arcs.map(({ kind, query, key, share }) => [`${kind} ${query} ${key}`, share]))
  assert.deepEqual(found, { "cross 0 1": 0.5, "self 0 0": 0.25, "encoder 1 1": 0.25 })
})

test("convolutions reach twice as far in each layer", () => {
  const { arcs } = reachOf(3, 3, 20, () => false)
  const last = arcs.filter(({ layer }) => layer === 2).map(({ query, key }) => query - key)
  assert.deepEqual(new Set(last), new Set([0, 4, 8]))
  assert.equal(Math.min(...arcs.map(({ key }) => key)), 20 - 2 * (1 + 2 + 4))
})

test("a convolution that is gone reaches nothing by itself", () => {
  const { arcs } = reachOf(2, 3, 20, (layer) => layer === 1)
  assert.deepEqual(arcs.map(({ layer, key }) => [layer, key]), [[0, 20], [0, 19], [0, 18]])
})
