import assert from "node:assert/strict"
import { test } from "node:test"

globalThis.matchMedia = () => /** @type {MediaQueryList} */ ({ matches: false }) // of which Deno has none
const { labelsBeside } = await import("../../../../pages/parts/boards/live/script/panels.js")

test("the labels of lines that lie close stand one below the other, and of a line out of sight there is none", () => {
  const levels = [1, 5, 4.9, 11].map((y0) => ({ y0, label: { text: `${y0}`, font: { size: 10 } } }))
  const axis = { _length: 100, d2p: (/** @type {number} */ value) => 100 - 10 * value }
  const stands = labelsBeside(levels, axis).map(({ text, y }) => `${text} at ${Math.round(100 * y)}`)
  assert.deepEqual(stands, ["5 at 50", "4.9 at 38", "1 at 10"])
})
