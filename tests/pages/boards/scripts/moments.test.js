import assert from "node:assert/strict"
import { test } from "node:test"
import { momentLines } from "../../../../pages/parts/boards/live/script/moments.js"

/** @import { LiveBoard } from "../../../../pages/parts/boards/live/script/types.d.ts" */

/** The moments of a run whose answers arrive in these layers at steps 0, 10, 20 ...; null where they do not arrive. */
function momentsAt(/** @type {(number | null)[][]} */ looks, cut = Infinity) {
  const snapshots = looks.map((layers, at) => ({
    step: 10 * at,
    patterns: {},
    paths: [null, ...layers.map((layer) => ({ arrives: layer != null, layer: layer ?? 3 }))],
  }))
  const board = /** @type {LiveBoard} */ (/** @type {unknown} */ ({ snapshots, cut, status: { state: "running" } }))
  return momentLines(board).map(({ name, x0 }) => `${name} · ${x0}`)
}

test("the moment from which most answers arrive where they arrive now is told", () => {
  const looks = [[null, null, 3], [3, 3, null], [3, 1, 1], [1, 1, 1]]
  assert.deepEqual(momentsAt(looks), ["answers in layer 2 · 20"])
  assert.deepEqual(momentsAt(looks, 10), ["answers in layer 4 · 10"], "at an earlier step of a replay")
  assert.deepEqual(momentsAt(looks.slice(0, 1)), [])
  assert.deepEqual(momentsAt([[1, 1], [1, 1]]), [], "it was so before training")
  assert.deepEqual(momentsAt([[], []]), [])
})
