import assert from "node:assert/strict"
import { test } from "node:test"
import { towardsArrow } from "../../../../pages/parts/boards/live/script/stack/roving.js"

test("an arrow leads to the nearest in its direction", () => {
  const middles = [0, 20].flatMap((y) => [0, 10, 30].map((x) => ({ x, y })))
  /** @type {[number, number][]} */
  const ways = [[1, 0], [0, 1], [-1, 0], [0, -1]]
  assert.deepEqual(ways.map((way) => towardsArrow(middles, 1, way)), [2, 4, 0, 1])
})
