// Looks at the model of the picture: parts taken away, symbols swapped, a sequence of the reader's own. The server
// answers each with a snapshot of the same weights; nothing is trained.

import { appAddress } from "../../../shell/script/dom.js"

/** @import { At, LiveBoard, Model, Sample, Snapshot } from "../types.d.ts" */

/** @typedef {{kind: At["kind"], first: number, symbols: string[]}} Question its symbols and where they begin */

/**
 * The places of the symbols that make up a sample's question.
 *
 * @param {Pick<Model, "question" | "lead">} model
 * @param {Pick<Sample, "tokens" | "source">} sample
 * @returns {Question}
 */
export function questionOf({ question, lead }, sample) {
  if (question === "source") return { kind: "source", first: 0, symbols: sample.source }
  const count = { half: (sample.tokens.length + 1) / 2, all: sample.tokens.length - lead, "": 0 }[question]
  const first = question === "all" ? lead : 0
  return { kind: "reads", first, symbols: sample.tokens.slice(first, first + count) }
}

/**
 * What is looked at: the names of the parts that are taken away; the question's symbols after some changed places, or
 * null; the two places of the last that did, or null; the reader's own sequence; and the snapshot before the symbols
 * changed places, or before the first part was taken away.
 *
 * @typedef {{without: string[], symbols: string[] | null, swapped: [number, number] | null, typed: string,
 *   before: Snapshot | null}} Wish
 */

/** @type {Wish} */
const NO_WISH = { without: [], symbols: null, swapped: null, typed: "", before: null }

/**
 * @typedef {Object} Looks `turn`, `swap`, `type` and `reset` change the wish
 * @property {() => string} problem why the wish has no answer, in one sentence
 * @property {() => Answered | null} seen the wish that was answered with its snapshot; null where there is none, or
 *   while another step is looked at
 * @property {() => boolean} any whether there is a wish
 * @property {(name: string) => boolean} away whether a part is taken away
 * @property {() => string} whyNot why nothing can be looked at now, in one sentence; empty where it can
 * @property {(names: string[]) => Promise<void>} turn takes parts away, or puts back those that are away
 * @property {(question: Question, one: number, other: number) => Promise<void>} swap lets two symbols of the question
 *   change places
 * @property {(typed: string) => Promise<void>} type
 * @property {() => void} forget puts all parts and symbols back, since the model is another one; what the reader typed
 *   stays
 * @property {() => Promise<void>} reset
 */

/** @typedef {Wish & {snapshot: Snapshot}} Answered */

/**
 * The looks of a board. `changed` is called when there is something new to draw.
 *
 * @param {LiveBoard} board
 * @param {() => void} changed
 * @returns {Looks}
 */
export function newLooks(board, changed) {
  let wish = NO_WISH
  /** @type {Answered | null} */
  let answered = null
  let [askedFor, problem] = ["", ""]

  /** A recording has ended once its last step is shown. */
  const atEnd = () => board.ended() && board.shownStep() === board.status.step
  const subject = () => {
    if (!board.data.run) return board.data.untrained
    return atEnd() ? `run=${encodeURIComponent(board.data.run)}` : ""
  }
  const any = () => wish.without.length > 0 || wish.symbols != null || wish.typed !== ""
  const query = (/** @type {Wish} */ { without, symbols, typed }) => {
    const parts = without.map((name) => `&without=${encodeURIComponent(name)}`).join("")
    return `${subject()}&text=${encodeURIComponent(symbols?.join(" ") ?? typed)}${parts}`
  }
  /** Ask for a wish; one that has no answer is given up for the one before. */
  const ask = async (/** @type {Wish} */ wanted) => {
    const last = wish
    wish = wanted
    problem = ""
    if (last === wanted || !any() || !subject()) answered = null
    if (any() && !subject()) problem = "This is answered once the run has ended."
    const mine = (askedFor = any() && subject() ? query(wanted) : "")
    if (!mine) return changed()
    const answer = await fetch(new URL(`own?${mine}`, appAddress())).catch(() => /** @type {Response | null} */ (null))
    if (mine !== askedFor) return
    const told = answer?.ok ? await answer.json() : { problem: "The server cannot be reached." }
    if (told.snapshot) answered = { ...wanted, snapshot: told.snapshot }
    else {
      problem = told.problem
      wish = last
      askedFor = query(last)
    }
    changed()
  }
  /** @type {Looks["seen"]} */
  const seen = () => {
    if (!any() || !subject() || (board.looking != null && board.looking < board.snapshots.length - 1)) return null
    if (askedFor !== query(wish)) ask(wish) // of other settings, or another run
    return answered
  }
  const shown = () => seen()?.snapshot ?? board.snapshot() ?? null
  const away = (/** @type {string} */ name) => wish.without.includes(name)
  const whyNot = () => (subject() ? "" : "While it trains, nothing can be taken away: wait for the end, or stop it.")
  /** @type {Looks["turn"]} */
  const turn = (names) => {
    const others = wish.without.filter((name) => !names.includes(name))
    const without = names.every(away) ? others : [...others, ...names]
    return ask({ ...wish, without, swapped: null, before: wish.without.length ? wish.before : shown() })
  }
  /** @type {Looks["swap"]} */
  const swap = (question, one, other) => {
    const symbols = [...question.symbols]
    ;[symbols[one], symbols[other]] = [symbols[other], symbols[one]]
    const [first, second] = [Math.min(one, other), Math.max(one, other)]
    return ask({
      ...wish,
      symbols,
      swapped: [question.first + first, question.first + second],
      before: shown(),
    })
  }
  const type = (/** @type {string} */ typed) => ask({ ...wish, symbols: null, swapped: null, typed })
  const forget = () => {
    wish = { ...NO_WISH, typed: wish.typed }
    answered = null
  }
  const reset = () => ask(NO_WISH)
  return { problem: () => problem, seen, any, away, whyNot, turn, swap, type, forget, reset }
}
