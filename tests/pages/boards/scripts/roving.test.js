import assert from "node:assert/strict"
import { test } from "node:test"
import { towardsArrow } from "../../../../pages/parts/boards/live/script/stack/roving.js"

test("An arrow leads to the nearest in its direction.", () => {
  const middles = [0, 20].flatMap((y) => [0, 10, 30].map((x) => ({ x, y })))
  const found = [[1, 0], [0, 1], [-1, 0], [0, -1]].map(([right, down]) => towardsArrow(middles, 1, [right, down]))
  assert.deepEqual(found, [2, 4, 0, 1])
})
