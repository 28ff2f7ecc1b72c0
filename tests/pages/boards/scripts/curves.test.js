import assert from "node:assert/strict"
import { test } from "node:test"
import { arcAt, hopLines, streamLines } from "../../../../pages/parts/boards/live/script/stack/curves.js"
import { layoutOf } from "../../../../pages/parts/boards/live/script/stack/layout.js"
import { hopsOf } from "../../../../pages/parts/boards/live/script/stack/weights.js"
import { USUAL } from "./made.js"

/** @import { Arc } from "../../../../pages/parts/boards/live/script/stack/weights.js" */

const DRAWN = { ...layoutOf(USUAL), layers: 1, height: 100, left: 0, pitch: 10, strip: 0, top: 20 }

const times = (/** @type {string} */ text, /** @type {string} */ letter) => text.split(letter).length - 1

test("lines of one thickness are one path, and those past an ablated skip connection are apart", () => {
  const norms = Array.from({ length: 4 }, () => [1, 2, 6])
  const isSkipAblated = (/** @type {number} */ layer) => layer === 1
  const lines = streamLines({ ...DRAWN, row: 20, layers: 3 }, [{ kind: "reads", count: 3, norms, isSkipAblated }])
  assert.equal(lines.whole.length, 6)
  assert.equal(times(lines.ablated, "M"), 3, "the stretch past the second layer, at each position")
  assert.equal(times(lines.above, "M"), 6, "what is above, and the way to the output")
  const widths = lines.whole.filter(({ d }) => d).map(({ width }) => width)
  assert.deepEqual(widths, [...widths].sort((a, b) => a - b))
  assert.equal(widths.length, 3)
})

test("an arc is found where it passes", () => {
  /** @type {Arc[]} */
  const arcs = [{ kind: "self", layer: 0, query: 8, key: 1, share: 0.5, weight: 0.9 }]
  const found = [[85, 22], [50, 50], [15, 78], [15, 22]].map(([x, y]) => arcAt(arcs, { ...DRAWN, row: 60 }, x, y))
  assert.deepEqual(found, [arcs[0], arcs[0], arcs[0], null])
})

test("the hops of an answer lead on from one another", () => {
  const hop = { which: /** @type {const} */ ("self"), weight: 0.9 }
  const upper = { ...hop, layer: 2, head: 1, position: 8, read: 5 }
  const readings = [upper, { ...hop, layer: 0, head: 0, position: 5, read: 4 }]
  const path = { arrives: true, contributor: "head", layer: 2, readings, words: [] }
  const hops = hopsOf(3, path)
  assert.deepEqual(hops.map(({ upto }) => upto), [3, 2], "the lower one's is carried up to the layer that reads it")
  const lines = hopLines(hops, { ...DRAWN, row: 20, layers: 3 })
  assert.deepEqual(lines.map(({ name }) => name), ["head.2.1", "head.0.0"])
  assert.ok(lines[0].d.startsWith("M55 40C") && lines[0].d.endsWith(" 85 20V20"))
  assert.ok(
    lines[1].d.startsWith("M45 80C") && lines[1].d.endsWith(" 55 60V40M45 100V80"),
    "the lowest begins at its symbol",
  )
  const several = hopsOf(3, { ...path, readings: [upper, { ...upper, head: 0, read: 4 }] })
  assert.deepEqual(several.map(({ upto, first }) => [upto, first]), [[3, true], [3, true]], "heads of one layer")
  assert.deepEqual(hopsOf(3, null), [])
  assert.equal(
    hopsOf(3, path, { reads: 5, source: 0 }).length,
    1,
    "one that leads out of the drawn positions is not drawn",
  )
})
