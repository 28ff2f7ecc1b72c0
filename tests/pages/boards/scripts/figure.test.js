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
  assert.equal(apart(layout, [{ type: "heatmap", z: layout.yaxis.ticktext }], 0), layout, "not yet in the page")
})

test("names of several lines have smaller letters where their rows are low", () => {
  const size = (/** @type {string} */ name, /** @type {number} */ row) =>
    apart(rows([name, "b"]), [{ type: "scatter" }], 10 + 34 + 2 * row).yaxis.tickfont.size
  assert.equal(size("a<br>b", 60), 20)
  assert.equal(size("a", 30), 20)
  assert.equal(Math.round(size("a<br>b", 39)), 15)
})
