// Looks at the model of the picture: parts taken away, symbols swapped, a sequence of the reader's own. The server answers each with a
// snapshot of the same weights; nothing is trained.

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
 * The looks of a board. `changed` is called when there is something new to draw.
 *
 * @param {Object} board
 * @param {() => void} changed
 * @returns {Object} `without`: the names of the parts that are taken away; `swapped`: the two places whose symbols changed places last, or
 *   null; `typed`: the reader's own sequence; `problem`: why there is no answer; `before`: the snapshot before the symbols changed
 *   places, or before the first part was taken away
 */
export function newLooks(board, changed) {
  const looks = { without: [], swapped: null, typed: "", problem: "", before: null }
  let [symbols, found, askedFor] = [null, null, ""]

  const atEnd = () => board.ended() && board.shownStep() === board.status.step // a recording has ended once its last step is shown
  const subject = () => {
    if (!board.data.run) return board.data.untrained
    return atEnd() ? `run=${encodeURIComponent(board.data.run)}` : ""
  }
  const any = () => looks.without.length > 0 || symbols != null || looks.typed !== ""
  const query = () => {
    const parts = looks.without.map((name) => `&without=${encodeURIComponent(name)}`).join("")
    return `${subject()}&text=${encodeURIComponent(symbols?.join(" ") ?? looks.typed)}${parts}`
  }
  const ask = async () => {
    looks.problem = ""
    if (!any() || !subject()) {
      found = null
      askedFor = ""
      if (any()) looks.problem = "This is answered once the run has ended."
      return changed()
    }
    const mine = (askedFor = query())
    const answer = await fetch(new URL(`own?${mine}`, appAddress())).catch(() => null)
    if (mine !== askedFor) return
    const told = answer?.ok ? await answer.json() : { problem: "The server cannot be reached." }
    if (told.snapshot) found = told.snapshot
    else Object.assign(looks, { problem: told.problem })
    changed()
  }
  const shown = () => looks.snapshot() ?? board.snapshot()

  /** The snapshot of the present looks; null where there are none, or as long as another step is looked at. */
  looks.snapshot = () => {
    if (!any() || (board.looking != null && board.looking < board.snapshots.length - 1)) return null
    if (askedFor && subject() && askedFor !== query()) ask() // of other settings, or another run
    return askedFor && subject() ? found : null
  }
  looks.any = any
  /** Why nothing can be looked at now, in one sentence; empty where it can. */
  looks.whyNot = () => (subject() ? "" : "While it trains, nothing can be taken away: wait for the end, or stop it.")
  /** Take parts away, or put back those that are away. */
  looks.turn = (names) => {
    if (!looks.without.length) looks.before = shown()
    const away = names.every((name) => looks.without.includes(name))
    looks.without = away ? looks.without.filter((name) => !names.includes(name)) : [...new Set([...looks.without, ...names])]
    looks.swapped = null
    return ask()
  }
  /** Let two symbols of the question change places. */
  looks.swap = (question, one, other) => {
    looks.before = shown()
    symbols = [...question.symbols]
    ;[symbols[one], symbols[other]] = [symbols[other], symbols[one]]
    looks.swapped = [question.first + one, question.first + other].sort((a, b) => a - b)
    return ask()
  }
  looks.type = (text) => {
    symbols = looks.swapped = null
    looks.typed = text
    return ask()
  }
  /** Put all parts and symbols back, since the model is another one; what the reader typed stays. */
  looks.forget = () => {
    if (!looks.without.length && !symbols) return
    looks.without = []
    symbols = looks.swapped = found = null
    if (!looks.typed) askedFor = ""
  }
  looks.reset = () => {
    Object.assign(looks, { without: [], swapped: null, typed: "", problem: "", before: null })
    symbols = found = null
    askedFor = ""
    changed()
  }
  return looks
}
