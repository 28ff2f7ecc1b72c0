import assert from "node:assert/strict"
import { test } from "node:test"
import {
  captionOf,
  changedAnswers,
  changeWords,
  exactPercent,
  headInWords,
  madeWithout,
  newLength,
  partsByKey,
  percent,
  positionInWords,
  readingOf,
  scoreOf,
  whoseFigures,
} from "../../../../pages/parts/boards/live/script/stack/words.js"
import { gridOf, sampleOf, snapshotOf } from "./made.js"

/** @import { Model, Part } from "../../../../pages/parts/boards/live/script/types.d.ts" */

test("positions are told in words or from one", () => {
  const positions = [0, 2, 4].map((position) => positionInWords(position, 5))
  assert.deepEqual(positions, ["the first position", "position 3", "the last position"])
  const weights = {
    queries: 3,
    keys: 3,
    firstQuery: 0,
    firstKey: 0,
    layers: [new Float32Array([1, 0, 0, 0, 1, 0, 0.985, 0.015, 0])],
  }
  const more = { size: 3, same: true, from: " (head 1)" }
  assert.deepEqual(readingOf({ position: 2 }, weights, 0, ["2", "7", "1"], more), {
    sentence: "The last position reads the first position, a “2”: attention weight 99 % (head 1).",
    key: 0,
  })
})

/** @type {[(query: number) => number, string][]} */
const HABITS = [
  [(query) => Math.max(0, query - 1), "the one one place before it"],
  [(query) => 5 - query, "mirror position (the last looks at the first position)."],
  [() => 0, "the first position"],
]

for (const [readBy, sentence] of HABITS) {
  test(`a head is told in words: ${sentence}`, () => {
    const row = (/** @type {number} */ query) => Array.from({ length: 6 }, (_, key) => Number(key === readBy(query)))
    const grid = gridOf([[[0, 1, 2, 3, 4, 5].map(row)]])
    assert.ok(headInWords(grid, 0).includes(sentence), headInWords(grid, 0))
  })
}

test("answers are compared at the places that are asked", () => {
  const marks = [null, true, false, true]
  const before = { predictions: ["1", "2", "3", "4"], marks }
  const after = { predictions: ["9", "3", "2", "4"], marks }
  assert.deepEqual(changedAnswers(before, after), { positions: [1, 2], of: 3 })
  assert.deepEqual(changedAnswers(before, after, [1, 2]), { positions: [], of: 1 })
  assert.equal(scoreOf(after), "2 of 3 right")
})

test("a share that is almost nothing is written as nothing, and an exact one that is almost all not as all", () => {
  assert.deepEqual([0.98, 0.9974, 0.99999, 1].map(exactPercent), ["98 %", "99.7 %", "99.9 %", "100 %"])
  assert.deepEqual([0, 0.0049, 0.0051, 0.5, 1].map(percent), ["0 %", "0 %", "1 %", "50 %", "100 %"])
})

/** @type {Part} */
const HEAD = {
  slot: "head",
  title: "Head {head} of layer {layer}",
  label: "head {head}",
  noun: "head",
  says: "",
  expects: "",
  spare: "Other heads do its work.",
  issue: null,
  takes: "head",
  off: false,
  fault: false,
  trains: null,
  opens: "",
}
const LENGTHS = "The model is trained on 3 tokens; shorter sequences are new to it."
const MODEL = /** @type {Model} */ (/** @type {unknown} */ ({
  question: "all",
  lead: 0,
  shortest: 3,
  lengths: LENGTHS,
  parts: { head: HEAD },
}))
const ABLATED = { ablated: ["head.1.0"], typed: "", swaps: [], moved: false }

test("a part that is taken away is judged by the answers that changed", () => {
  const before = snapshotOf(sampleOf("1 2 3", "1 2 3"))
  assert.equal(
    changeWords(MODEL, { wish: ABLATED, before }, sampleOf("1 2 3", "1 7 7"))?.sentence,
    "Removed: head 1 of layer 2. 2 of 3 answers changed here (outlined); 3 of 3 right with it.",
  )
  assert.equal(
    changeWords(MODEL, { wish: ABLATED, before }, sampleOf("1 2 3", "1 2 3"))?.sentence,
    "Removed: head 1 of layer 2. No answer changed here. Other heads do its work.",
  )
})

test("the verdict on a head that is taken away is told as it comes", () => {
  const words = [{ text: "Without ", part: "" }, { text: "head 1 of layer 2", part: "head.1.0" }]
  const sample = sampleOf("1 2 3", "1 7 7")
  const answered = {
    wish: ABLATED,
    snapshot: { ...snapshotOf(sample), ablation: { words, details: "Counted in 100 other sequences." } },
    before: snapshotOf(sampleOf("1 2 3", "1 2 3")),
  }
  const caption = captionOf(MODEL, answered, sample, [])
  assert.deepEqual(caption.words.slice(1), words)
  assert.equal(caption.details, "Counted in 100 other sequences.")
  const moved = { ...answered, wish: { ...ABLATED, moved: true, swaps: /** @type {[number, number][]} */ ([[0, 1]]) } }
  assert.match(captionOf(MODEL, moved, sample, []).words[0].text, /are swapped/)
})

test("a sequence that is shorter than all in training is said to be new to the model", () => {
  const short = sampleOf("1 2", "7 7")
  assert.equal(newLength(MODEL, short), LENGTHS)
  assert.equal(newLength(MODEL, sampleOf("1 2 3", "1 2 3")), "")
  const sentence = changeWords(MODEL, { wish: { ...ABLATED, typed: "1 2" }, before: snapshotOf(short) }, short)
    ?.sentence
  assert.equal(sentence, `${LENGTHS} Removed: head 1 of layer 2. No answer changed here.`)
})

test("a model with a broken part and without another is told by the broken one", () => {
  const parts = { head: { ...HEAD, off: true }, mask: { ...HEAD, noun: "the mask", fault: true } }
  assert.equal(madeWithout({ ...MODEL, parts })?.sentence, "In this model the mask is broken.")
  assert.equal(madeWithout(MODEL), null)
})

test("figures beside the picture say whose they are where it shows something else", () => {
  assert.equal(whoseFigures(undefined), "")
  assert.equal(whoseFigures(ABLATED), "Whole model, nothing removed.")
  assert.equal(whoseFigures({ ...ABLATED, typed: "1 2" }), "Of the run’s own sequence, nothing removed.")
  assert.equal(whoseFigures({ ...ABLATED, ablated: [], swaps: [[0, 1]] }), "Of the run’s own sequence.")
})

test("a presenter's key takes the parts of the layer that brings the answer, and none that the model lacks", () => {
  const part = (/** @type {Part["slot"]} */ slot, /** @type {string} */ takes, off = false) => ({
    ...HEAD,
    slot,
    takes,
    off,
  })
  const parts = {
    layer: part("row", "layer"),
    norm: part("layer", "norm", true),
    mlp: part("layer", "mlp"),
    skip: part("layer", "skip"),
    head: HEAD,
    encoding: part("input", "encoding"),
    embedding: part("input", ""),
  }
  const model = /** @type {Model} */ ({ ...MODEL, heads: 2, stacks: [{ kind: "self", prefix: "" }], parts })
  const head = { which: /** @type {const} */ ("self"), layer: 3, head: 1 }
  assert.deepEqual(partsByKey(model, head), ["skip.3", "head.3.1", "mlp.3", "encoding"])
  assert.deepEqual(partsByKey({ ...model, heads: 0, parts: { cell: part("row", "layer") } }, head), ["layer.3"])
})
