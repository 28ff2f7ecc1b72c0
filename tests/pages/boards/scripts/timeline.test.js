import assert from "node:assert/strict"
import { test } from "node:test"
import { milestoneLines } from "../../../../pages/parts/boards/live/script/timeline.js"

/** @import { LiveBoard } from "../../../../pages/parts/boards/live/script/types.d.ts" */

/** The milestones of a run whose answers arise in these layers at steps 0, 10, 20 ...; null where they do not. */
function milestonesAt(/** @type {(number | null)[]} */ layers, untilStep = Infinity) {
  const snapshots = layers.map((layer, at) => ({
    step: 10 * at,
    patterns: {},
    answer_layer: layer == null ? null : layer === 1 ? "induction" : `most answers in layer ${layer + 1}`,
  }))
  const board =
    /** @type {LiveBoard} */ (/** @type {unknown} */ ({ snapshots, untilStep, status: { state: "running" } }))
  return milestoneLines(board).map(({ name, x0 }) => `${name} · ${x0}`)
}

test("the milestone is found at which the answers first arose as they do now", () => {
  assert.deepEqual(milestonesAt([null, 1, 3, 1, 1]), ["induction · 10"])
  assert.deepEqual(
    milestonesAt([null, 1, 3, 1, 1], 20),
    ["most answers in layer 4 · 20"],
    "at an earlier step of a replay",
  )
  assert.deepEqual(milestonesAt([1, 1]), [], "it was so before training")
  assert.deepEqual(milestonesAt([1, null]), [])
  assert.deepEqual(milestonesAt([]), [])
})
