import assert from "node:assert/strict"
import { test } from "node:test"
import { columnAt, firstsOf, layoutOf, xOf } from "../../../../pages/parts/boards/live/script/stack/layout.js"
import { USUAL } from "./made.js"

const SIZES = [[8, 1, 47, 0], [8, 3, 24, 24], [1, 1, 7, 0], [64, 1, 23, 0], [0, 0, 96, 0]]

for (const width of [358, 560, 1120, 1700]) {
  for (const controls of [true, false]) {
    for (const [heads, kinds, positions, sources] of SIZES) {
      const wanted = { ...USUAL, layers: 8, width, controls, heads, kinds, positions, sources }
      test(`all positions and heads of a layer fit beside one another: ${JSON.stringify(wanted)}`, () => {
        const found = layoutOf(wanted)
        const beside = found.left + found.middle + (found.wide ? found.tiles : 0)
        assert.ok(beside <= width || heads === 64)
        assert.ok(found.pitch > 0)
        if (positions + sources < 50 && heads < 64) assert.ok(found.pitch >= 6, "a symbol can be read")
      })
    }
  }
}

test("the whole width is used, and a higher window has a higher picture", () => {
  const wanted = { ...USUAL, width: 1760, layers: 1, heads: 1, positions: 11 }
  const [usual, high] = [1, 1.5].map((times) => layoutOf({ ...wanted, times }))
  for (const { left, middle, tiles } of [usual, high]) {
    assert.equal(Math.round(left + middle + 20 + tiles + 2 * 52), 1760)
  }
  assert.equal(high.row, 1.5 * usual.row)
  assert.ok(high.tile > usual.tile)
})

for (const width of [288, 358, 1120, 1760]) {
  test(`a picture that stands alone is as high as its page's style says, ${width} pixels wide`, () => {
    const wanted = { ...USUAL, controls: false, layers: 1, heads: 1, positions: 11, width }
    const [alone, usual] = [300, 0].map((tall) => layoutOf({ ...wanted, tall }))
    assert.equal(alone.height, 300)
    assert.ok(alone.left + alone.middle + (alone.wide ? alone.tiles : 0) <= width)
    if (alone.wide) assert.ok(alone.letters > usual.letters && 0.64 * alone.letters < alone.pitch)
  })
}

test("the height grows little with the layers", () => {
  const [one, four, eight, many] = [1, 4, 8, 48].map((layers) => layoutOf({ ...USUAL, layers }).height)
  assert.ok(four <= 200)
  assert.ok(eight <= 240)
  assert.ok(one < four && four < eight && eight < many && many < 540)
})

for (const sources of [0, 6]) {
  test(`the column of a position is found at its middle, with ${sources} positions of a source`, () => {
    const drawn = layoutOf({ ...USUAL, width: 900, layers: 2, heads: 2, positions: 6, sources })
    for (const kind of /** @type {("source" | "reads")[]} */ (sources ? ["reads", "source"] : ["reads"])) {
      for (const position of [0, 5]) assert.deepEqual(columnAt(drawn, xOf(drawn, kind, position)), { kind, position })
    }
  })
}

test("of a long sequence the last positions are drawn, from left to right", () => {
  const sample = { tokens: Array(191).fill("1"), source: Array(96).fill("1") }
  const firsts = firstsOf(sample)
  assert.deepEqual(firsts, { reads: 95, source: 0 })
  const drawn = layoutOf({ ...USUAL, positions: 96, firsts })
  assert.equal(xOf(drawn, "reads", 95), drawn.left + 0.5 * drawn.pitch)
  assert.deepEqual(columnAt(drawn, xOf(drawn, "reads", 190)), { kind: "reads", position: 190 })
  assert.deepEqual(firstsOf(undefined), { reads: 0, source: 0 })
})
