// The status line above the panels: state, facts, progress, and the reason where what is followed has failed.

import { el, setText } from "./dom.js"

/** @import { Told } from "./types.d.ts" */

/**
 * A status line whose states have these names; a state named "" hides the line, whose place is then free.
 *
 * `draw` takes the state, words about it, the share that is done (null hides the bar), the reason of a failure, and
 * what a screen reader hears after the state's name. Without `progress` there is no bar.
 *
 * @param {Record<string, string>} names
 * @param {boolean} [progress]
 */
export function newStatusLine(names, progress = true) {
  const badge = el("strong", { class: "badge", role: "status" })
  const facts = el("span", { class: "facts" })
  const bar = el("progress", { max: 1, value: 0, "aria-label": "Share of the work that is done" })
  const problem = el("p", { class: "problem", role: "alert", hidden: true })
  const line = el("div", { class: "status" }, el("div", { class: "line" }, badge, facts), ...(progress ? [bar] : []))
  const root = el("div", {}, line, problem)

  let failure = ""

  /** Say from now on that the board itself has failed. */
  const fail = (/** @type {string} */ sentence) => setText(problem, failure = sentence)
  const draw = (/** @type {Told} */ { state, words, share, reason, spoken = "" }) => {
    const name = names[state] ?? state
    line.hidden = !name
    if (badge.dataset.state !== state) {
      badge.dataset.state = state
      badge.replaceChildren(name, el("span", { class: "spoken" }, spoken))
    }
    if (facts.textContent !== words) facts.replaceChildren(...pieces(words))
    bar.value = share ?? 0
    bar.style.visibility = share == null ? "hidden" : "visible"
    setText(problem, failure || reason)
  }
  return { root, draw, fail }
}

/** The parts of a sentence between its dots, of which the last ones go where the line has no room for all. */
const pieces = (/** @type {string} */ words) => words.split(/(?= · )/).map((piece) => el("span", {}, piece))
