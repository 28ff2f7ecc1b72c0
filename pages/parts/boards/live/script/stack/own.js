// The box for a sequence of the reader's own.

import { el, setText } from "../../../shell/script/dom.js"

/**
 * The box, and the line that says why there is no answer, or not yet. It is answered by the untrained model, or by the run's once
 * the run has ended.
 */
export function ownSequence(/** @type {{type: (text: string) => void}} */ looks) {
  const input = el("input", {
    type: "text",
    "aria-label": "Your own sequence",
    placeholder: "your own sequence",
    size: 16,
    maxlength: 2000,
  })
  const told = el("p", { class: "attends", hidden: true })
  const onsubmit = (/** @type {Event} */ event) => {
    event.preventDefault()
    looks.type(input.value.trim())
  }
  const form = el("form", { class: "own-sequence", onsubmit }, input, el("button", { type: "submit" }, "Try"))
  const say = (/** @type {string} */ problem, /** @type {boolean} */ waits) => {
    told.classList.toggle("problem", Boolean(problem))
    told.role = problem ? "alert" : "status"
    setText(told, problem || (waits ? "Your own sequence is read once the run has ended." : ""))
  }
  return { form, told, clear: () => (input.value = ""), say }
}
