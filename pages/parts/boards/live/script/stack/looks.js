// Looks at the model of the picture: parts taken away, symbols swapped, a sequence of the reader's own. The server
// answers each with a snapshot of the same weights; nothing is trained.

import { appAddress } from "../../../shell/script/dom.js"

/**
 * The places of the symbols that make up a sample's question.
 *
 * @param {{question: string, lead: number}} model
 * @param {{tokens: string[], source: string[]}} sample
 * @returns {{kind: "source" | "reads", first: number, symbols: string[]}}
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
 *   before: Object | null}} Wish
 */

/** @type {Wish} */
const NO_WISH = { without: [], symbols: null, swapped: null, typed: "", before: null }

/**
 * The looks of a board. `changed` is called when there is something new to draw.
 *
 * @param {Object} board
 * @param {() => void} changed
 * @returns {Object} `seen()`: the wish that was answered with its snapshot, or null; `turn`, `swap`, `type` and `reset`
 *   change the wish; `problem`: why it has no answer
 */
export function newLooks(board, changed) {
  const looks = { problem: "" }
  let wish = NO_WISH
  let [answered, askedFor] = [null, ""]

  /** A recording has ended once its last step is shown. */
  const atEnd = () => board.ended() && board.shownStep() === board.status.step
  const subject = () => {
    if (!board.data.run) return board.data.untrained
    return atEnd() ? `run=${encodeURIComponent(board.data.run)}` : ""
  }
  const any = () => wish.without.length > 0 || wish.symbols != null || wish.typed !== ""
  const query = ({ without, symbols, typed }) => {
    const parts = without.map((name) => `&without=${encodeURIComponent(name)}`).join("")
    return `${subject()}&text=${encodeURIComponent(symbols?.join(" ") ?? typed)}${parts}`
  }
  /** Ask for a wish; one that has no answer is given up for the one before. */
  const ask = async (wanted) => {
    const last = wish
    wish = wanted
    looks.problem = ""
    if (last === wanted || !any() || !subject()) answered = null
    if (any() && !subject()) looks.problem = "This is answered once the run has ended."
    const mine = (askedFor = any() && subject() ? query(wanted) : "")
    if (!mine) return changed()
    const answer = await fetch(new URL(`own?${mine}`, appAddress())).catch(() => null)
    if (mine !== askedFor) return
    const told = answer?.ok ? await answer.json() : { problem: "The server cannot be reached." }
    if (told.snapshot) answered = { ...wanted, snapshot: told.snapshot }
    else {
      looks.problem = told.problem
      wish = last
      askedFor = query(last)
    }
    changed()
  }
  const shown = () => looks.seen()?.snapshot ?? board.snapshot()

  /** The wish that was answered, with its snapshot; null where there is none, or while another step is looked at. */
  looks.seen = () => {
    if (!any() || !subject() || (board.looking != null && board.looking < board.snapshots.length - 1)) return null
    if (askedFor !== query(wish)) ask(wish) // of other settings, or another run
    return answered
  }
  looks.any = any
  looks.away = (name) => wish.without.includes(name)
  /** Why nothing can be looked at now, in one sentence; empty where it can. */
  looks.whyNot = () => (subject() ? "" : "While it trains, nothing can be taken away: wait for the end, or stop it.")
  /** Take parts away, or put back those that are away. */
  looks.turn = (names) => {
    const others = wish.without.filter((name) => !names.includes(name))
    const without = names.every(looks.away) ? others : [...others, ...names]
    return ask({ ...wish, without, swapped: null, before: wish.without.length ? wish.before : shown() })
  }
  /** Let two symbols of the question change places. */
  looks.swap = (question, one, other) => {
    const symbols = [...question.symbols]
    ;[symbols[one], symbols[other]] = [symbols[other], symbols[one]]
    const swapped = [question.first + one, question.first + other].sort((a, b) => a - b)
    return ask({ ...wish, symbols, swapped, before: shown() })
  }
  looks.type = (typed) => ask({ ...wish, symbols: null, swapped: null, typed })
  /** Put all parts and symbols back, since the model is another one; what the reader typed stays. */
  looks.forget = () => {
    wish = { ...NO_WISH, typed: wish.typed }
    answered = null
  }
  looks.reset = () => ask(NO_WISH)
  return looks
}
