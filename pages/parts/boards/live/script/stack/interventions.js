// Interventions on the model of the picture: parts taken away, symbols swapped, a sequence of the reader's own. The server
// answers each with a snapshot of the same weights; nothing is trained.

import { el, inApp, setText } from "../../../base/script/dom.js"

/** @import { At, LiveBoard, Model, Sample, Snapshot } from "../types.d.ts" */

const MAX_SNAPSHOTS = 8 // beside the one that is shown

/** @typedef {{kind: At["kind"], first: number, symbols: string[]}} Question its symbols and where they begin */

/**
 * The symbols that make up a sample's question.
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
 * What to look at: the names of the parts that are taken away; the reader's own sequence, empty for the run's; the
 * indices within the question of the symbols that changed places, pair by pair; whether the last change was such a pair.
 *
 * @typedef {{ablated: string[], typed: string, swaps: [number, number][], moved: boolean}} Wish
 */

/** @type {Wish} */
const NO_WISH = { ablated: [], typed: "", swaps: [], moved: false }

/**
 * What a wish is compared with: the same sequence before the last two symbols changed places, or read by the whole
 * model.
 */
export const comparedWith = (/** @type {Wish} */ wish) =>
  wish.moved ? { ...wish, swaps: wish.swaps.slice(0, -1) } : { ...wish, ablated: [] }

const isNothing = (/** @type {Wish} */ { ablated, typed, swaps }) => !ablated.length && !swaps.length && !typed

/**
 * A wish that was answered: its snapshot, and that of what it is compared with where that is something else.
 *
 * @typedef {{wish: Wish, snapshot: Snapshot, before: Snapshot | null}} Answered
 */

/** @typedef {ReturnType<typeof newInterventions>} Interventions */

/**
 * The interventions on a board. `changed` is called when there is something new to draw.
 *
 * One wish is asked for at a time. What the reader changes meanwhile adds up, and is asked for next.
 */
export function newInterventions(/** @type {LiveBoard} */ board, /** @type {() => void} */ changed) {
  let wish = NO_WISH
  let otherwise = NO_WISH // the wish to go back to where the present one has no answer
  /** @type {Answered | null} */
  let answered = null
  let [about, settled, problem] = ["", "", ""]
  let busy = false
  /** @type {Map<string, Snapshot>} */
  const answers = new Map()

  /** A recording has ended once its last step is shown. */
  const atEnd = () => board.ended() && board.shownStep() === board.status.step
  /** What can be intervened on: the model of a run that has ended, or the untrained one of some settings. */
  const subject = () => {
    if (!board.data.run) return board.data.untrained ?? ""
    return atEnd() ? `run=${encodeURIComponent(board.data.run)}` : ""
  }
  /** Whether there is a wish. */
  const any = () => !isNothing(wish)
  const due = () => any() && subject() ? JSON.stringify([subject(), wish]) : ""

  /** Raises an Error with the reason in one sentence. */
  const ask = async (/** @type {string} */ text, /** @type {string[]} */ ablated) => {
    const parts = ablated.map((name) => `&without=${encodeURIComponent(name)}`).join("")
    const query = `${about}&text=${encodeURIComponent(text)}${parts}`
    const before = answers.get(query)
    if (before) return before
    const answer = await fetch(inApp(`own?${query}`)).catch(() => /** @type {Response | null} */ (null))
    const reply = answer?.ok ? await answer.json() : { problem: "The server cannot be reached." }
    if (!reply.snapshot) throw new Error(reply.problem)
    answers.set(query, reply.snapshot)
    const [oldest] = answers.keys()
    if (answers.size > MAX_SNAPSHOTS) answers.delete(oldest)
    return /** @type {Snapshot} */ (reply.snapshot)
  }
  /** @type {(wanted: Wish) => Promise<Snapshot>} */
  const snapshotOf = async ({ ablated, typed, swaps }) => {
    const latest = board.snapshots[board.snapshots.length - 1]
    const known = latest?.step === board.status.step // else the run was stopped between two snapshots
    if (known && isNothing({ ablated, typed, swaps, moved: false })) return latest
    if (!swaps.length) return ask(typed, ablated)
    const [sample] = (await snapshotOf({ ...NO_WISH, typed })).samples
    const { symbols } = questionOf(/** @type {Model} */ (board.data.model), sample)
    return ask(swapped(symbols, swaps).join(" "), ablated)
  }
  const both = async (/** @type {Wish} */ wanted) => {
    const before = await snapshotOf(comparedWith(wanted))
    const snapshot = await snapshotOf(wanted)
    return { wish: wanted, snapshot, before: before === snapshot ? null : before }
  }
  const settle = async () => {
    if (busy) return
    busy = true
    for (let mine = due(); mine && mine !== settled; mine = due()) {
      const wanted = wish
      const found = await both(wanted).catch((error) => /** @type {Error} */ (error))
      if (mine !== due()) continue // the wish has changed since
      settled = mine
      if (found instanceof Error) {
        problem = found.message
        wish = otherwise
        otherwise = answered?.wish ?? NO_WISH
      } else {
        answered = found
      }
      changed()
    }
    busy = false
  }
  const change = (/** @type {Wish} */ wanted) => {
    otherwise = wish
    wish = wanted
    if (!any()) answered = null
    problem = ""
    refresh()
    changed()
  }
  /** Ask for the wish where it has no answer yet; of other settings or another run anew. */
  const refresh = () => {
    if (about !== subject()) {
      answered = null
      otherwise = wish
      problem = ""
      about = subject()
    }
    settle()
  }
  /**
   * Ask for the links that the answers need, of the whole model once its run has ended. Without them its paths say in
   * which layer the answers arrive, as those of every earlier step do.
   */
  const followLinks = async () => {
    const latest = board.snapshots[board.snapshots.length - 1]
    if (!board.data.run || !subject() || latest?.step !== board.status.step || latest.linked != null) return
    latest.linked = false
    if (!latest.paths?.some((path) => path?.arrives)) return
    refresh()
    const found = await ask("", []).catch(() => null)
    if (!found) return
    Object.assign(latest, { paths: found.paths, answer_layer: found.answer_layer, linked: true })
    changed()
  }
  /** The wish that was answered last; null where there is none, or while another step is looked at. */
  const current = () => {
    if (!any() || !subject() || (board.looking != null && board.looking < board.snapshots.length - 1)) return null
    refresh()
    return answered
  }
  /** The reader's own sequence, empty for the run's; null until it is answered. */
  const text = () => {
    if (!wish.typed && !wish.swaps.length) return ""
    if (answered?.wish !== wish) return null
    if (!wish.swaps.length) return wish.typed
    const model = /** @type {Model} */ (board.data.model)
    return questionOf(model, answered.snapshot.samples[0]).symbols.join(" ")
  }
  /** Whether a part is taken away. */
  const isAblated = (/** @type {string} */ name) => wish.ablated.includes(name)
  /** Why nothing can be looked at now, in one sentence; empty where it can. */
  const whyNot = () => (subject() ? "" : "To remove a part, wait until the training ends, or stop it.")
  /** Take parts away, or put back those that are away. */
  const toggle = (/** @type {string[]} */ names) => {
    const others = wish.ablated.filter((name) => !names.includes(name))
    change({ ...wish, ablated: names.every(isAblated) ? others : [...others, ...names], moved: false })
  }
  /** Let two symbols of the question change places. */
  const swap = (/** @type {number} */ one, /** @type {number} */ other) =>
    change({ ...wish, swaps: [...wish.swaps, [one, other]], moved: true })
  const type = (/** @type {string} */ typed) => change({ ...wish, typed, swaps: [], moved: false })
  /** Put all parts and symbols back, since the model is another one; what the reader typed stays. */
  const forget = () => {
    wish = { ...NO_WISH, typed: wish.typed }
    answered = null
    settled = ""
  }
  /** Put all back but these, which are taken away and swapped. */
  const reset = (ablated = NO_WISH.ablated, swaps = NO_WISH.swaps) =>
    change({ ablated, typed: "", swaps, moved: swaps.length > 0 })
  /** Whether what the reader typed is answered only once the run has ended. */
  const waits = () => Boolean(wish.typed) && !subject()
  return {
    problem: () => problem,
    waits,
    current,
    any,
    text,
    isAblated,
    whyNot,
    toggle,
    swap,
    type,
    forget,
    reset,
    followLinks,
  }
}

/**
 * Symbols after some pairs have changed places, each pair as it then stands; a pair that is not there changes nothing.
 */
function swapped(/** @type {string[]} */ symbols, /** @type {[number, number][]} */ swaps) {
  const after = [...symbols]
  for (const [one, other] of swaps) {
    if (Math.max(one, other) < after.length) [after[one], after[other]] = [after[other], after[one]]
  }
  return after
}

/**
 * The box, and the line that says why there is no answer, or not yet. It is answered by the untrained model, or by the run's once
 * the run has ended.
 */
export function userSequence(/** @type {{type: (text: string) => void}} */ interventions) {
  const input = el("input", {
    type: "text",
    "aria-label": "Your own sequence",
    placeholder: "your own sequence",
    size: 16,
    maxlength: 2000,
  })
  const line = el("p", { class: "attends", hidden: true })
  const onsubmit = (/** @type {Event} */ event) => {
    event.preventDefault()
    interventions.type(input.value.trim())
  }
  const form = el("form", { class: "user-sequence", onsubmit }, input, el("button", { type: "submit" }, "Try"))
  const say = (/** @type {string} */ problem, /** @type {boolean} */ waits) => {
    line.classList.toggle("problem", Boolean(problem))
    line.role = problem ? "alert" : "status"
    setText(line, problem || (waits ? "The model reads your sequence when the run has ended." : ""))
  }
  return { form, line, fill: (/** @type {string} */ text) => (input.value = text), say }
}
