import assert from "node:assert/strict"
import { afterEach, beforeEach, mock, test } from "node:test"
import {
  append,
  entryOf,
  exactLines,
  followRun,
  matrixAlone,
  mosaicOf,
  tracesOf,
  upto,
} from "../../../../pages/parts/boards/live/script/data.js"
import { gridOf } from "./made.js"

/** @import { Column, LiveBoard } from "../../../../pages/parts/boards/live/script/types.d.ts" */

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

const ARRAY = { shape: [1, 2, 2, 2], decoded: new Float32Array([1, 2, 3, 4, 5, 6, 7, 8]) }

test("heads stand side by side with empty cells between", () => {
  const picture = mosaicOf(ARRAY, [3, 3])
  assert.deepEqual(picture, [new Float32Array([1, 2, NaN, 5, 6]), new Float32Array([3, 4, NaN, 7, 8])])
})

test("one matrix of an array is found by its index", () => {
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
  const requests = []
  globalThis.fetch = (address) => {
    requests.push(`${address}`)
    return Promise.resolve(new Response(JSON.stringify({ loss: [[0, 1, 2], [3.5, 2.25, 1.125]] })))
  }
  const board = /** @type {LiveBoard} */ (/** @type {unknown} */ ({ data: { run: "own" } }))
  const live = { x: [0, 1], y: [3, 2], meta: { column: "loss" } }
  const stored = { x: [0, 1], y: [5, 4], meta: { column: "loss", run: "" } }
  assert.deepEqual(await exactLines(board, [live, stored]), [{ ...live, y: [3.5, 2.25] }, stored])
  assert.equal(requests.length, 1)
  assert.match(requests[0], /live\/own\/lines\?name=loss$/)
})

/**
 * The streams that were opened, the latest last.
 *
 * @type {Stream[]}
 */
let opened = []

class Stream {
  static CLOSED = 2
  readyState = 0
  constructor(/** @type {string} */ address) {
    this.after = Number(new URL(address).searchParams.get("after"))
    this.onmessage = (/** @type {{data: string}} */ _) => {}
    this.onerror = () => {}
    opened.push(this)
  }
  close() {
    this.readyState = Stream.CLOSED
  }
  /** Send the loss of the steps up to `last` that the stream has to tell. */
  send(/** @type {number} */ last) {
    this.onmessage({ data: JSON.stringify(update(this.after, last)) })
  }
  refuse() {
    this.close()
    this.onerror()
  }
}

const update = (/** @type {number} */ after, /** @type {number} */ last) => {
  const steps = Array.from({ length: last - after }, (_, i) => after + i + 1)
  return { columns: { loss: /** @type {[number[], number[]]} */ ([steps, steps.map((step) => 1 / step)]) }, last }
}

/** A board that notes what it is told: the columns, and "silence", "refusal" and "back" in their order. */
function scene(polled = false) {
  /** @type {string[]} */
  const calls = []
  /** @type {any} */
  const board = { data: { run: "run" }, have: 0, columns: {}, over: false, ended: () => board.over }
  const take = (/** @type {any} */ given) => {
    append(board.columns, given.columns)
    board.have = Math.max(board.have, given.last)
  }
  const heard = {
    onUpdate: take,
    onSilence: () => calls.push("silence"),
    onRefusal: () => calls.push("refusal"),
    onBack: () => calls.push("back"),
  }
  return { board, calls, take, end: followRun(board, heard, polled) }
}

/** @type {EventTarget & {hidden: boolean}} */
let page

beforeEach(() => {
  opened = []
  page = Object.assign(new EventTarget(), { hidden: false })
  mock.timers.enable({ apis: ["setTimeout"] })
  Object.assign(globalThis, { EventSource: Stream, document: page })
})

afterEach(() => {
  mock.timers.reset()
  Object.assign(globalThis, { EventSource: undefined, document: undefined })
})

test("a stream that was silent is tried again after a minute, and brings each event once", () => {
  const { board, calls, take } = scene()
  mock.timers.tick(8000)
  assert.deepEqual([calls, opened.length], [["silence"], 1])
  take(update(0, 3)) // polled
  mock.timers.tick(59000)
  assert.equal(opened.length, 1, "not yet")
  mock.timers.tick(1000)
  assert.deepEqual([opened.length, opened[1].after], [2, 3])
  take(update(0, 5)) // polled, while the stream is being opened
  opened[1].send(7)
  assert.deepEqual(calls, ["silence", "back"])
  assert.deepEqual(board.columns.loss[0], [1, 2, 3, 4, 5, 6, 7])
  mock.timers.tick(600000)
  assert.deepEqual([calls.length, opened.length], [2, 2], "it goes on by the stream")
})

test("while the stream stays silent the page is not asked again to poll, and the stream is tried now and then", () => {
  const { calls } = scene()
  mock.timers.tick(8000)
  for (let times = 2; times < 5; times++) {
    mock.timers.tick(60000)
    assert.equal(opened.length, times)
    mock.timers.tick(8000)
    assert.equal(opened[opened.length - 1].readyState, Stream.CLOSED)
  }
  assert.deepEqual(calls, ["silence"])
})

test("a refused stream is tried again, too, and not after the run has ended", () => {
  const { board, calls } = scene()
  opened[0].refuse()
  mock.timers.tick(60000)
  assert.deepEqual([calls, opened.length], [["refusal"], 2])
  opened[1].refuse()
  board.over = true
  mock.timers.tick(600000)
  assert.deepEqual([calls, opened.length], [["refusal"], 2])
})

test("a run after a silent one is polled at first, and a hidden tab opens no stream", () => {
  const { calls } = scene(true)
  page.hidden = true
  mock.timers.tick(60000)
  assert.equal(opened.length, 0)
  page.hidden = false
  page.dispatchEvent(new Event("visibilitychange"))
  opened[0].send(2)
  assert.deepEqual(calls, ["back"])
})

test("a tab that is shown again while it is polled waits for the minute to be over", () => {
  scene()
  mock.timers.tick(8000)
  page.dispatchEvent(new Event("visibilitychange"))
  assert.equal(opened.length, 1)
})

test("what is ended opens nothing any more", () => {
  const { end } = scene()
  mock.timers.tick(8000)
  end()
  mock.timers.tick(600000)
  assert.equal(opened.length, 1)
})
