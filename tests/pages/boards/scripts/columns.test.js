import assert from "node:assert/strict"
import { test } from "node:test"
import { append, upto } from "../../../../pages/parts/boards/live/script/columns.js"

/** @import { Column } from "../../../../pages/parts/boards/live/script/types.d.ts" */

test("a column is known up to a step, that step included", () => {
  /** @type {Column} */
  const column = [[0, 10, 20], [3, 2, 1]]
  assert.deepEqual(upto(column, -1), [[], []])
  assert.deepEqual(upto(column, 10), [[0, 10], [3, 2]])
  assert.deepEqual(upto(column, 19), [[0, 10], [3, 2]])
  assert.deepEqual(upto(column, 20), column)
  assert.deepEqual(upto(column, Infinity), column)
  assert.deepEqual(upto([[], []], 5), [[], []])
})

test("events that are there already are not appended again", () => {
  /** @type {Record<string, Column>} */
  const columns = {}
  append(columns, { loss: [[0, 1], [5, 4]] })
  append(columns, { loss: [[1, 2], [9, 3]], accuracy: [[2], [0.5]] })
  assert.deepEqual(columns, { loss: [[0, 1, 2], [5, 4, 3]], accuracy: [[2], [0.5]] })
})

test("a long line keeps its ends, its lowest and its highest value", () => {
  /** @type {Record<string, Column>} */
  const columns = {}
  const steps = Array.from({ length: 2000 }, (_, step) => step)
  append(columns, { loss: [steps, steps.map((step) => step === 777 ? -9 : step === 1234 ? 9 : 0)] })
  const [x, y] = columns.loss
  assert.ok(x.length <= 400 && x.length === y.length)
  assert.deepEqual([x[0], x.at(-1)], [0, 1999])
  assert.deepEqual([x[y.indexOf(-9)], x[y.indexOf(9)]], [777, 1234])
})
