import assert from "node:assert/strict"
import { test } from "node:test"
import { gradientsDiffer } from "../../../../pages/parts/boards/live/script/stack/layers.js"

test("gradients are told where one layer has ten times another's, of two stacks by the larger", () => {
  assert.ok(gradientsDiffer([[0.1], [1]]))
  assert.ok(!gradientsDiffer([[0.11], [1], [null], []]))
  assert.ok(!gradientsDiffer([[0.01, 1], [1, 0.01]]))
  assert.ok(!gradientsDiffer([[null], [null]]))
  assert.ok(gradientsDiffer([[0], [1]]))
})
