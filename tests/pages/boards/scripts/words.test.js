import assert from "node:assert/strict"
import { test } from "node:test"
import {
  changedAnswers,
  exactPercent,
  headInWords,
  percent,
  placeInWords,
  readingOf,
  scoreOf,
} from "../../../../pages/parts/boards/live/script/stack/words.js"
import { gridOf } from "./made.js"

test("positions are told in words or from one", () => {
  const places = [0, 2, 4].map((place) => placeInWords(place, 5, "position"))
  assert.deepEqual(places, ["the first position", "position 3", "the last position"])
  assert.equal(placeInWords(2, 5, "symbol"), "the symbol at position 3")
  const weights = {
    queries: 3,
    keys: 3,
    firstQuery: 0,
    firstKey: 0,
    layers: [new Float32Array([1, 0, 0, 0, 1, 0, 0.985, 0.015, 0])],
  }
  const more = { own: 3, same: true, from: " (head 1)" }
  assert.deepEqual(readingOf({ place: 2 }, weights, 0, ["2", "7", "1"], more), {
    sentence: "The last position reads the first symbol, a “2”: 99 % (head 1).",
    key: 0,
  })
})

/** @type {[(query: number) => number, string][]} */
const HABITS = [
  [(query) => Math.max(0, query - 1), "the one one place before it"],
  [(query) => 5 - query, "mirror position (the last looks at the first position)."],
  [() => 0, "the first position"],
]

for (const [readBy, said] of HABITS) {
  test(`a head is told in words: ${said}`, () => {
    const row = (/** @type {number} */ query) => Array.from({ length: 6 }, (_, key) => Number(key === readBy(query)))
    const grid = gridOf([[[0, 1, 2, 3, 4, 5].map(row)]])
    assert.ok(headInWords(grid, 0).includes(said), headInWords(grid, 0))
  })
}

test("answers are compared at the places that are asked", () => {
  const marks = [null, true, false, true]
  const before = { predictions: ["1", "2", "3", "4"], marks }
  const after = { predictions: ["9", "3", "2", "4"], marks }
  assert.deepEqual(changedAnswers(before, after), { places: [1, 2], of: 3 })
  assert.deepEqual(changedAnswers(before, after, [1, 2]), { places: [], of: 1 })
  assert.equal(scoreOf(after), "2 of 3 right")
})

test("a share that is almost nothing is written as nothing, and an exact one that is almost all not as all", () => {
  assert.deepEqual([0.98, 0.9974, 0.99999, 1].map(exactPercent), ["98 %", "99.7 %", "99.9 %", "100 %"])
  assert.deepEqual([0, 0.0049, 0.0051, 0.5, 1].map(percent), ["0 %", "0 %", "1 %", "50 %", "100 %"])
})
