import assert from "node:assert/strict"
import { test } from "node:test"
import { entryOf, exactLines, matrixAlone, tracesOf } from "../../../../pages/parts/boards/live/script/exact.js"
import { mosaicOf } from "../../../../pages/parts/boards/live/script/grids.js"
import { gridOf } from "./made.js"

/** @import { LiveBoard } from "../../../../pages/parts/boards/live/script/types.d.ts" */

const ARRAY = { shape: [1, 2, 2, 2], decoded: new Float32Array([1, 2, 3, 4, 5, 6, 7, 8]) }

test("heads stand side by side with empty cells between", () => {
  const picture = mosaicOf(ARRAY, [3, 3])
  assert.deepEqual(picture, [new Float32Array([1, 2, NaN, 5, 6]), new Float32Array([3, 4, NaN, 7, 8])])
})

test("one matrix of an array is found by its place", () => {
  assert.deepEqual(matrixAlone(ARRAY, 1), { shape: [2, 2], decoded: new Float32Array([5, 6, 7, 8]) })
})

test("saved data number layers, heads, queries and keys from one", () => {
  const [{ z, meta }] = tracesOf(ARRAY, { x: "key", y: "query", label: "self" })
  assert.deepEqual(z, [new Float32Array([1, 2, 5, 6]), new Float32Array([3, 4, 7, 8])])
  assert.deepEqual(meta.rows, { layer: [1, 1], query: [1, 2] })
  assert.deepEqual(meta.columns, { head: [1, 1, 2, 2], key: [1, 2, 1, 2] })
})

test("a cell is told exactly once its array is there", () => {
  const grid = { ...gridOf([[[[0.2, 1]]]]), block: [1, 2], whole: [1, 1, 1, 3] }
  assert.deepEqual(entryOf(grid, null, 0, 0, 0), { row: "1", column: "1–2", value: "about 0.2" })
  assert.deepEqual(entryOf(grid, null, 0, 0, 1), { row: "1", column: "3", value: "about 1" })
  const array = { shape: [1, 1, 1, 3], decoded: new Float32Array([0.125, -0.25, 1]) }
  assert.deepEqual(entryOf(grid, array, 0, 0, 0), { row: "1", column: "2", value: "-0.25" })
  assert.equal(entryOf(grid, array, 0, 5, 0), null)
})

test("lines are asked of the runs that have any; those of stored runs are as they are drawn", async () => {
  /** @type {string[]} */
  const asked = []
  globalThis.fetch = (address) => {
    asked.push(`${address}`)
    return Promise.resolve(new Response(JSON.stringify({ loss: [[0, 1, 2], [3.5, 2.25, 1.125]] })))
  }
  const board = /** @type {LiveBoard} */ (/** @type {unknown} */ ({ data: { run: "own" } }))
  const own = { x: [0, 1], y: [3, 2], meta: { column: "loss" } }
  const stored = { x: [0, 1], y: [5, 4], meta: { column: "loss", run: "" } }
  assert.deepEqual(await exactLines(board, [own, stored]), [{ ...own, y: [3.5, 2.25] }, stored])
  assert.equal(asked.length, 1)
  assert.match(asked[0], /live\/own\/lines\?name=loss$/)
})
