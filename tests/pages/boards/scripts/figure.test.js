import assert from "node:assert/strict"
import { test } from "node:test"

/** @import { Foreign } from "../../../../pages/parts/boards/base/script/types.d.ts" */

globalThis.matchMedia = () => /** @type {MediaQueryList} */ ({ matches: false }) // of which Deno has none
const { apart } = await import("../../../../pages/parts/boards/base/script/figure.js")

const rows = (/** @type {string[]} */ ticktext) => ({
  xaxis: {},
  yaxis: { tickvals: ticktext.map((_, index) => index), ticktext, tickfont: { size: 20 } },
  margin: { t: 10, b: 10 },
  font: { size: 14 },
})

const sized = (/** @type {number} */ clientHeight, clientWidth = 1000) => ({ clientWidth, clientHeight })

test("a heatmap labels as many rows and columns as do not touch", () => {
  const layout = rows([..."31415926"])
  const labelled = (/** @type {number} */ height) =>
    apart(layout, [{ type: "heatmap", z: layout.yaxis.ticktext }], sized(height)).yaxis
  assert.deepEqual(labelled(20 + 8 * 22), layout.yaxis)
  assert.deepEqual(labelled(20 + 8 * 11).tickvals, [0, 2, 4, 6])
  assert.equal(labelled(20 + 8 * 10).ticktext.join(""), "312")
  const encoded = { type: "heatmap", z: { bdata: "", shape: "8, 5" } }
  assert.deepEqual(apart(layout, [encoded], sized(20 + 8 * 11)).yaxis.tickvals, [0, 2, 4, 6])
  assert.equal(apart(layout, [{ type: "heatmap", z: layout.yaxis.ticktext }], sized(0)), layout, "not yet in the page")

  const square = { ...layout, xaxis: layout.yaxis, yaxis: { ...layout.yaxis, scaleanchor: "x" } }
  const across = (/** @type {Foreign} */ wanted, width = 1000) =>
    apart(
      wanted,
      [{ type: "heatmap", showscale: false, z: layout.yaxis.ticktext.map(() => "31415926") }],
      sized(20 + 8 * 11, width),
    )
      .xaxis.ticktext.join("")
  assert.equal(across({ ...square, yaxis: layout.yaxis }), "31415926")
  assert.equal(across({ ...square, yaxis: layout.yaxis }, 8 * 12), "3452")
  assert.equal(across(square), "3452", "its cells are as narrow as they are low")
})

test("a square has the same labels on both sides", () => {
  const symbols = rows([..."31415926"]).yaxis
  const square = { ...rows([]), xaxis: symbols, yaxis: { ...symbols, scaleanchor: "x" } }
  const trace = { type: "heatmap", showscale: false, z: symbols.ticktext.map(() => "31415926") }
  for (const cell of [30, 16, 9]) { // at 16 pixels all fit with smaller letters
    const { xaxis, yaxis } = apart(square, [trace], sized(20 + 8 * cell))
    assert.deepEqual(xaxis.ticktext, yaxis.ticktext)
    assert.equal(xaxis.ticktext.length === 8, cell >= 16)
    assert.deepEqual(xaxis.tickfont, yaxis.tickfont)
    assert.equal(xaxis.tickfont.size < 20, cell === 16)
  }
})

test("names of several lines have smaller letters where their rows are low", () => {
  const size = (/** @type {string} */ name, /** @type {number} */ row) =>
    apart(rows([name, "b"]), [{ type: "scatter" }], sized(10 + 34 + 2 * row)).yaxis.tickfont.size
  assert.equal(size("a<br>b", 60), 20)
  assert.equal(size("a", 30), 20)
  const numbers = { ...rows([]), yaxis: { tickvals: [0, 0.5, 1] } }
  assert.equal(apart(numbers, [{ type: "scatter" }], sized(100)), numbers, "these have no names")
  assert.equal(Math.round(size("a<br>b", 39)), 15)
})
