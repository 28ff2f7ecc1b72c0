import assert from "node:assert/strict"
import { test } from "node:test"
import { besidePart, continues, towardsArrow } from "../../../../pages/parts/boards/live/script/stack/controls.js"

const BOX = { width: 200, height: 100 }
const OUTER = { width: 640, height: 200 }

for (
  const [[left, top], corner] of [
    [[10, 10], [10, 35]],
    [[10, 175], [10, 70]],
    [[600, 80], [395, 80]],
    [[100, 80], [125, 80]],
  ]
) {
  test(`a box covers neither its part at ${left}, ${top} nor anything outside`, () => {
    assert.deepEqual(besidePart({ left, top, width: 20, height: 20 }, BOX, OUTER), corner)
  })
}

test("an arrow leads to the nearest in its direction", () => {
  const middles = [0, 20].flatMap((y) => [0, 10, 30].map((x) => ({ x, y })))
  /** @type {[number, number][]} */
  const ways = [[1, 0], [0, 1], [-1, 0], [0, -1]]
  assert.deepEqual(ways.map((way) => towardsArrow(middles, 1, way)), [2, 4, 0, 1])
})

test("a text continues: each position but the last must write what the next one reads", () => {
  const text = { source: [], tokens: ["my", "lord", ","], targets: ["lord", ",", "I"], marks: [true, false, true] }
  const as = (/** @type {Object} */ change) => continues(/** @type {any} */ ({ ...text, ...change }))
  assert.ok(as({}))
  assert.ok(!as({ targets: ["lord", ".", "I"] }), "another answer")
  assert.ok(!as({ marks: [null, false, true] }), "not asked for everywhere")
  assert.ok(!as({ source: ["my"] }), "two sequences")
})
