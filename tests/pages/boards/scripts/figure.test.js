import assert from "node:assert/strict"
import { test } from "node:test"

globalThis.matchMedia = () => /** @type {MediaQueryList} */ ({ matches: false }) // of which Deno has none
const { apart } = await import("../../../../pages/parts/boards/shell/script/figure.js")

const rows = (/** @type {string[]} */ ticktext) => ({
  xaxis: {},
  yaxis: { tickvals: ticktext.map((_, place) => place), ticktext, tickfont: { size: 20 } },
  margin: { t: 10, b: 10 },
  font: { size: 14 },
})

test("a heatmap labels as many rows as do not touch", () => {
  const layout = rows([..."31415926"])
  const labelled = (/** @type {number} */ height) =>
    apart(layout, [{ type: "heatmap", z: layout.yaxis.ticktext }], height).yaxis
  assert.deepEqual(labelled(20 + 8 * 22), layout.yaxis)
  assert.deepEqual(labelled(20 + 8 * 11).tickvals, [0, 2, 4, 6])
  assert.equal(labelled(20 + 8 * 10).ticktext.join(""), "312")
  const encoded = { type: "heatmap", z: { bdata: "", shape: "8, 5" } }
  assert.deepEqual(apart(layout, [encoded], 20 + 8 * 11).yaxis.tickvals, [0, 2, 4, 6])
  assert.equal(apart(layout, [{ type: "heatmap", z: layout.yaxis.ticktext }], 0), layout, "not yet in the page")
})

test("names of several lines have smaller letters where their rows are low", () => {
  const size = (/** @type {string} */ name, /** @type {number} */ row) =>
    apart(rows([name, "b"]), [{ type: "scatter" }], 10 + 34 + 2 * row).yaxis.tickfont.size
  assert.equal(size("a<br>b", 60), 20)
  assert.equal(size("a", 30), 20)
  const numbers = { ...rows([]), yaxis: { tickvals: [0, 0.5, 1] } }
  assert.equal(apart(numbers, [{ type: "scatter" }], 100), numbers, "these have no names")
  assert.equal(Math.round(size("a<br>b", 39)), 15)
})
