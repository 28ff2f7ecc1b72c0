import assert from "node:assert/strict"
import { afterEach, beforeEach, mock, test } from "node:test"
import { append } from "../../../../pages/parts/boards/live/script/columns.js"
import { followRun } from "../../../../pages/parts/boards/live/script/stream.js"

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
  /** Tell the loss of the steps up to `last` that the stream has to tell. */
  tell(/** @type {number} */ last) {
    this.onmessage({ data: JSON.stringify(news(this.after, last)) })
  }
  refuse() {
    this.close()
    this.onerror()
  }
}

const news = (/** @type {number} */ after, /** @type {number} */ last) => {
  const steps = Array.from({ length: last - after }, (_, i) => after + i + 1)
  return { columns: { loss: /** @type {[number[], number[]]} */ ([steps, steps.map((step) => 1 / step)]) }, last }
}

/** A board that notes what it is told: the columns, and "silence", "refusal" and "back" in their order. */
function scene(polled = false) {
  /** @type {string[]} */
  const said = []
  /** @type {any} */
  const board = { data: { run: "run" }, have: 0, columns: {}, over: false, ended: () => board.over }
  const take = (/** @type {any} */ given) => {
    append(board.columns, given.columns)
    board.have = Math.max(board.have, given.last)
  }
  const heard = {
    onNews: take,
    onSilence: () => said.push("silence"),
    onRefusal: () => said.push("refusal"),
    onBack: () => said.push("back"),
  }
  return { board, said, take, end: followRun(board, heard, polled) }
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
  const { board, said, take } = scene()
  mock.timers.tick(8000)
  assert.deepEqual([said, opened.length], [["silence"], 1])
  take(news(0, 3)) // polled
  mock.timers.tick(59000)
  assert.equal(opened.length, 1, "not yet")
  mock.timers.tick(1000)
  assert.deepEqual([opened.length, opened[1].after], [2, 3])
  take(news(0, 5)) // polled, while the stream is being opened
  opened[1].tell(7)
  assert.deepEqual(said, ["silence", "back"])
  assert.deepEqual(board.columns.loss[0], [1, 2, 3, 4, 5, 6, 7])
  mock.timers.tick(600000)
  assert.deepEqual([said.length, opened.length], [2, 2], "it goes on by the stream")
})

test("while the stream stays silent the page is not asked again to poll, and the stream is tried now and then", () => {
  const { said } = scene()
  mock.timers.tick(8000)
  for (let times = 2; times < 5; times++) {
    mock.timers.tick(60000)
    assert.equal(opened.length, times)
    mock.timers.tick(8000)
    assert.equal(opened[opened.length - 1].readyState, Stream.CLOSED)
  }
  assert.deepEqual(said, ["silence"])
})

test("a refused stream is tried again, too, and not after the run has ended", () => {
  const { board, said } = scene()
  opened[0].refuse()
  mock.timers.tick(60000)
  assert.deepEqual([said, opened.length], [["refusal"], 2])
  opened[1].refuse()
  board.over = true
  mock.timers.tick(600000)
  assert.deepEqual([said, opened.length], [["refusal"], 2])
})

test("a run after a silent one is polled at first, and a hidden tab opens no stream", () => {
  const { said } = scene(true)
  page.hidden = true
  mock.timers.tick(60000)
  assert.equal(opened.length, 0)
  page.hidden = false
  page.dispatchEvent(new Event("visibilitychange"))
  opened[0].tell(2)
  assert.deepEqual(said, ["back"])
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
