import assert from "node:assert/strict"
import { test } from "node:test"
import { comparedWith, newLooks } from "../../../../pages/parts/boards/live/script/stack/looks.js"
import { sampleOf, snapshotOf } from "./made.js"

/** @import { LiveBoard, Path } from "../../../../pages/parts/boards/live/script/types.d.ts" */

/** A snapshot that writes what it reads. */
const read = (/** @type {string} */ text) => snapshotOf(sampleOf(text))

/** A board with an ended run that was watched on 1 2 3, and a server that answers when it is told to. */
function scene() {
  const ended = { now: true }
  const board = /** @type {LiveBoard} */ (/** @type {unknown} */ ({
    data: { run: "a", model: { question: "all", lead: 0 } },
    status: { step: 9 },
    snapshots: [read("1 2 3")],
    looking: null,
    ended: () => ended.now,
    shownStep: () => 9,
  }))
  /** @type {{query: URLSearchParams, answer: (problem?: string, paths?: (Path | null)[]) => void}[]} */
  const asked = []
  globalThis.fetch = (address) =>
    new Promise((resolve) => {
      const query = new URL(`${address}`).searchParams
      const answer = (problem = "", /** @type {(Path | null)[]} */ paths = []) =>
        resolve(Response.json(problem ? { problem } : { snapshot: { ...read(query.get("text") || "1 2 3"), paths } }))
      asked.push({ query, answer })
    })
  return { looks: newLooks(board, () => {}), asked, ended, board }
}

/** @param {{query: URLSearchParams}} question */
const inShort = ({ query }) => [query.get("text"), ...query.getAll("without")].join("/")
const moment = () => new Promise((resolve) => setTimeout(resolve))

/**
 * Answer all that is asked, until nothing more is.
 *
 * @param {ReturnType<typeof scene>["asked"]} asked
 * @param {(text: string | null) => string} [problemOf] the reason why a text has no answer
 */
async function allAnswered(asked, problemOf = () => "") {
  await moment()
  for (let at = 0; at < asked.length; at++) {
    asked[at].answer(problemOf(asked[at].query.get("text")))
    await moment()
  }
}

test("a part taken away is compared on the sequence that is read, also where that is typed later", async () => {
  const { looks, asked } = scene()
  looks.turn(["head.1.0"])
  await moment()
  assert.deepEqual(asked.map(inShort), ["/head.1.0"], "of the whole model there is a snapshot already")
  asked[0].answer()
  await moment()
  assert.deepEqual(looks.seen()?.before?.samples[0].tokens, ["1", "2", "3"])
  looks.type("7 8")
  await allAnswered(asked)
  const found = looks.seen()
  assert.deepEqual(asked.slice(1).map(inShort), ["7 8", "7 8/head.1.0"])
  assert.deepEqual(found?.before?.samples[0].tokens, ["7", "8"], "like is compared with like")
  assert.deepEqual(found?.wish.without, ["head.1.0"])
})

test("what the reader does while a look is computed adds up, and is asked for once", async () => {
  const { looks, asked } = scene()
  looks.swap(0, 1)
  looks.swap(1, 2)
  looks.turn(["mask"])
  await allAnswered(asked)
  assert.deepEqual(asked.map(inShort), ["2 1 3", "2 3 1", "2 3 1/mask"])
  assert.deepEqual(looks.seen()?.snapshot.samples[0].tokens, ["2", "3", "1"])
  assert.equal(asked.length, 3)
  looks.turn(["mask"])
  looks.turn(["mask"])
  await moment()
  assert.equal(asked.length, 3, "twice is not at all")
  assert.ok(looks.away("mask"))
})

test("a change without an answer is given up, and those before it are not", async () => {
  const { looks, asked } = scene()
  looks.turn(["mask"])
  await allAnswered(asked)
  looks.turn(["skip.0"])
  await moment()
  looks.type("x")
  await allAnswered(asked, (text) => (text === "x" ? "Your token “x” is not known." : ""))
  assert.equal(looks.problem(), "Your token “x” is not known.")
  assert.deepEqual(looks.seen()?.wish, { without: ["mask", "skip.0"], typed: "", swaps: [], moved: false })
})

test("what is typed while a run trains is answered once it has ended", async () => {
  const { looks, asked, ended } = scene()
  ended.now = false
  looks.type("3 2 1")
  assert.ok(looks.waits())
  assert.equal(looks.problem(), "")
  assert.equal(looks.seen(), null)
  ended.now = true
  looks.seen()
  await allAnswered(asked)
  assert.deepEqual(looks.seen()?.snapshot.samples[0].tokens, ["3", "2", "1"])
  assert.ok(!looks.waits())
})

test("two symbols that changed places are compared with the order before, parts with the whole model", () => {
  const wish = { without: ["mask"], typed: "1 2", swaps: /** @type {[number, number][]} */ ([[0, 1]]) }
  assert.deepEqual(comparedWith({ ...wish, moved: true }), { ...wish, swaps: [], moved: true })
  assert.deepEqual(comparedWith({ ...wish, moved: false }), { ...wish, without: [], moved: false })
})

test("once a run has ended the links that its answers need are asked for, once", async () => {
  const { looks, asked, ended, board } = scene()
  const path = { arrives: true, layer: 1, carrier: "", readings: [], words: [] }
  board.snapshots[0].paths = [path]
  ended.now = false
  looks.followLinks()
  await moment()
  assert.equal(asked.length, 0, "while it trains nothing is asked")
  ended.now = true
  looks.followLinks()
  looks.followLinks()
  await moment()
  assert.deepEqual(asked.map(inShort), [""])
  const linked = { ...path, carrier: "head" }
  asked[0].answer("", [linked])
  await moment()
  assert.deepEqual(board.snapshots[0].paths, [linked])
  looks.followLinks()
  await moment()
  assert.equal(asked.length, 1)
})

test("nothing is asked where no answer arrives, and without an answer the paths stay as they are", async () => {
  const { looks, asked, board } = scene()
  const path = { arrives: false, layer: 1, carrier: "", readings: [], words: [] }
  board.snapshots[0].paths = [path, null]
  looks.followLinks()
  await moment()
  assert.equal(asked.length, 0)
  board.snapshots = [{ ...read("1 2 3"), paths: [{ ...path, arrives: true }] }]
  looks.followLinks()
  await moment()
  asked[0].answer("Too many are asking.")
  await moment()
  assert.deepEqual(board.snapshots[0].paths, [{ ...path, arrives: true }])
})

test("the sequence that is read is known once it is answered: none, what was typed, or its symbols in their new order", async () => {
  const { looks, asked } = scene()
  assert.equal(looks.text(), "")
  looks.turn(["mask"])
  assert.equal(looks.text(), "", "the run's own, of a model without a part")
  looks.type("4 5 6")
  assert.equal(looks.text(), null)
  await allAnswered(asked)
  assert.equal(looks.text(), "4 5 6")
  looks.swap(0, 2)
  await allAnswered(asked)
  assert.equal(looks.text(), "6 5 4")
  looks.type("no")
  await allAnswered(asked, (text) => text === "no" ? "It is refused." : "")
  assert.equal(looks.text(), "6 5 4", "a refused one is not read")
})
