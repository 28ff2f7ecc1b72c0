import assert from "node:assert/strict"
import { test } from "node:test"
import { actsOf } from "../../../../pages/parts/boards/live/script/stack/acts.js"

/** @import { LiveBoard, NumberedAct } from "../../../../pages/parts/boards/live/script/types.d.ts" */

test("a message repeats what the page has not done yet, in order", () => {
  /** @type {NumberedAct[][]} */
  const told = []
  const model = { heard: 0 }
  const trigger = (/** @type {string} */ _, /** @type {NumberedAct[]} */ acts) => told.push(acts)
  const act = actsOf(/** @type {LiveBoard} */ (/** @type {unknown} */ ({ data: { model }, trigger })))
  act({ set: { skips: false } })
  act({ open: "Block" })
  assert.deepEqual(told[1].map(({ number: _, ...does }) => does), [{ set: { skips: false } }, { open: "Block" }])
  assert.ok(told[1][0].number < told[1][1].number)
  model.heard = told[1][0].number
  act({ open: "Faults" })
  assert.deepEqual(told[2].map(({ open }) => open), ["Block", "Faults"])
})
