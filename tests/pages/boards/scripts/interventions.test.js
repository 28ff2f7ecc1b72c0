import assert from "node:assert/strict"
import { test } from "node:test"
import { comparedWith, newInterventions } from "../../../../pages/parts/boards/live/script/stack/interventions.js"
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
  const requests = []
  globalThis.fetch = (address) =>
    new Promise((resolve) => {
      const query = new URL(`${address}`).searchParams
      const answer = (problem = "", /** @type {(Path | null)[]} */ paths = []) =>
        resolve(Response.json(problem ? { problem } : { snapshot: { ...read(query.get("text") || "1 2 3"), paths } }))
      requests.push({ query, answer })
    })
  return { interventions: newInterventions(board, () => {}), requests, ended, board }
}

/** @param {{query: URLSearchParams}} question */
const inShort = ({ query }) => [query.get("text"), ...query.getAll("without")].join("/")
const tick = () => new Promise((resolve) => setTimeout(resolve))

/**
 * Answer all that is asked, until nothing more is.
 *
 * @param {ReturnType<typeof scene>["requests"]} requests
 * @param {(text: string | null) => string} [problemOf] the reason why a text has no answer
 */
async function allAnswered(requests, problemOf = () => "") {
  await tick()
  for (let at = 0; at < requests.length; at++) {
    requests[at].answer(problemOf(requests[at].query.get("text")))
    await tick()
  }
}

test("a part taken away is compared on the sequence that is read, also where that is typed later", async () => {
  const { interventions, requests } = scene()
  interventions.toggle(["head.1.0"])
  await tick()
  assert.deepEqual(requests.map(inShort), ["/head.1.0"], "of the whole model there is a snapshot already")
  requests[0].answer()
  await tick()
  assert.deepEqual(interventions.current()?.before?.samples[0].tokens, ["1", "2", "3"])
  interventions.type("7 8")
  await allAnswered(requests)
  const found = interventions.current()
  assert.deepEqual(requests.slice(1).map(inShort), ["7 8", "7 8/head.1.0"])
  assert.deepEqual(found?.before?.samples[0].tokens, ["7", "8"], "like is compared with like")
  assert.deepEqual(found?.wish.ablated, ["head.1.0"])
})

test("what the reader does while an answer is computed adds up, and is asked for once", async () => {
  const { interventions, requests } = scene()
  interventions.swap(0, 1)
  interventions.swap(1, 2)
  interventions.toggle(["mask"])
  await allAnswered(requests)
  assert.deepEqual(requests.map(inShort), ["2 1 3", "2 3 1", "2 3 1/mask"])
  assert.deepEqual(interventions.current()?.snapshot.samples[0].tokens, ["2", "3", "1"])
  assert.equal(requests.length, 3)
  interventions.toggle(["mask"])
  interventions.toggle(["mask"])
  await tick()
  assert.equal(requests.length, 3, "twice is not at all")
  assert.ok(interventions.isAblated("mask"))
})

test("a change without an answer is given up, and those before it are not", async () => {
  const { interventions, requests } = scene()
  interventions.toggle(["mask"])
  await allAnswered(requests)
  interventions.toggle(["skip.0"])
  await tick()
  interventions.type("x")
  await allAnswered(requests, (text) => (text === "x" ? "Your token “x” is not known." : ""))
  assert.equal(interventions.problem(), "Your token “x” is not known.")
  assert.deepEqual(interventions.current()?.wish, { ablated: ["mask", "skip.0"], typed: "", swaps: [], moved: false })
})

test("what is typed while a run trains is answered once it has ended", async () => {
  const { interventions, requests, ended } = scene()
  ended.now = false
  interventions.type("3 2 1")
  assert.ok(interventions.waits())
  assert.equal(interventions.problem(), "")
  assert.equal(interventions.current(), null)
  ended.now = true
  interventions.current()
  await allAnswered(requests)
  assert.deepEqual(interventions.current()?.snapshot.samples[0].tokens, ["3", "2", "1"])
  assert.ok(!interventions.waits())
})

test("two symbols that changed places are compared with the order before, parts with the whole model", () => {
  const wish = { ablated: ["mask"], typed: "1 2", swaps: /** @type {[number, number][]} */ ([[0, 1]]) }
  assert.deepEqual(comparedWith({ ...wish, moved: true }), { ...wish, swaps: [], moved: true })
  assert.deepEqual(comparedWith({ ...wish, moved: false }), { ...wish, ablated: [], moved: false })
})

test("once a run has ended the links that its answers need are asked for, once", async () => {
  const { interventions, requests, ended, board } = scene()
  const path = { arrives: true, layer: 1, contributor: "", readings: [], words: [] }
  board.snapshots[0].paths = [path]
  ended.now = false
  interventions.followLinks()
  await tick()
  assert.equal(requests.length, 0, "while it trains nothing is asked")
  ended.now = true
  interventions.followLinks()
  interventions.followLinks()
  await tick()
  assert.deepEqual(requests.map(inShort), [""])
  const linked = { ...path, contributor: "head" }
  requests[0].answer("", [linked])
  await tick()
  assert.deepEqual(board.snapshots[0].paths, [linked])
  interventions.followLinks()
  await tick()
  assert.equal(requests.length, 1)
})

test("nothing is asked where no answer arrives, and without an answer the paths stay as they are", async () => {
  const { interventions, requests, board } = scene()
  const path = { arrives: false, layer: 1, contributor: "", readings: [], words: [] }
  board.snapshots[0].paths = [path, null]
  interventions.followLinks()
  await tick()
  assert.equal(requests.length, 0)
  board.snapshots = [{ ...read("1 2 3"), paths: [{ ...path, arrives: true }] }]
  interventions.followLinks()
  await tick()
  requests[0].answer("Too many are asking.")
  await tick()
  assert.deepEqual(board.snapshots[0].paths, [{ ...path, arrives: true }])
})

test("the sequence that is read is known once it is answered: none, what was typed, or its symbols in their new order", async () => {
  const { interventions, requests } = scene()
  assert.equal(interventions.text(), "")
  interventions.toggle(["mask"])
  assert.equal(interventions.text(), "", "the run's own, of a model without a part")
  interventions.type("4 5 6")
  assert.equal(interventions.text(), null)
  await allAnswered(requests)
  assert.equal(interventions.text(), "4 5 6")
  interventions.swap(0, 2)
  await allAnswered(requests)
  assert.equal(interventions.text(), "6 5 4")
  interventions.type("no")
  await allAnswered(requests, (text) => text === "no" ? "It is refused." : "")
  assert.equal(interventions.text(), "6 5 4", "a refused one is not read")
})
