import assert from "node:assert/strict"
import { test } from "node:test"
import { duration, fade, number, toRgb } from "../../../../pages/parts/boards/base/script/dom.js"

test("numbers are written with three digits, large ones whole", () => {
  const written = [0, 0.012345, 1.5, 999.9, 1234.5].map((value) => number(value))
  assert.deepEqual(written, ["0", "0.0123", "1.5", "1000", "1,235"])
})

test("a time is written in seconds, minutes or hours", () => {
  assert.deepEqual([0.2, 89, 90, 5399, 5400].map(duration), ["1 s", "89 s", "2 min", "90 min", "1.5 h"])
})

test("a colour is read from both of its forms", () => {
  assert.deepEqual(toRgb("#1F4E9E"), [31, 78, 158])
  assert.deepEqual(toRgb("rgb(31, 78, 158)"), [31, 78, 158])
  assert.equal(fade("#1F4E9E", 0.5), "rgba(31,78,158,0.5)")
})
