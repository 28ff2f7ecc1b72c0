import assert from "node:assert/strict"
import { test } from "node:test"
import { chosenIn, leadingTo } from "../../../../pages/parts/boards/live/script/stack/chosen.js"
import { seenIn } from "../../../../pages/parts/boards/live/script/stack/seen.js"
import { gridOf, sampleOf, snapshotOf } from "./made.js"

/** @import { Model, Path } from "../../../../pages/parts/boards/live/script/types.d.ts" */

/**
 * A path by these heads of the self-attention, from the last layer down; null for one that does not arrive.
 *
 * @param {[number, number][] | null} heads
 * @returns {Path}
 */
const pathBy = (heads) => ({
  arrives: heads != null,
  layer: 1,
  carrier: "head",
  readings: (heads ?? []).map(([layer, head]) => ({ which: "self", layer, head, position: 0, read: 0, weight: 1 })),
  words: [],
})

/** The place that is chosen, of a sample that must write what it reads. */
const chosen = (/** @type {string} */ reads, /** @type {string} */ writes, /** @type {(Path | null)[]} */ paths = []) =>
  chosenIn(sampleOf(reads, writes), null, paths)?.place

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
  assert.equal(chosenIn(sample, null)?.place, 190, "as many are right as 96 of 191")
  assert.equal(chosenIn(sample, { kind: "reads", place: 100 })?.place, 100)
  assert.equal(chosenIn(sample, { kind: "reads", place: 94 })?.place, 190, "what is not drawn is not followed")
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
  const seen = seenIn(model, snapshot, { without: [], only: null })
  const { arcs, streams } = leadingTo(model, seen, { kind: "reads", place: 150 })
  assert.deepEqual(arcs.map(({ query, key }) => [query, key]), [[150, 130]])
  assert.deepEqual(streams.map(({ place }) => place), [150])
})
