// The keys of a lesson: P presents, arrows and page keys (a presenter's remote) step, 1 to 3 guess, S asks the phones
// for seeds, E empties the class, X takes a part of the model away, Q shows the link as a QR code, B blanks, Escape
// leaves. And the minutes left of the step.

import { newPresses } from "../boards/base/script/presses.js"

/** @type {Record<string, string>} */
const KEYS = { ArrowRight: "next", PageDown: "next", ArrowLeft: "back", PageUp: "back", Escape: "leave" }
Object.assign(KEYS, { s: "seeds", e: "empty" })
for (const guess of ["1", "2", "3"]) KEYS[guess] = guess
const RETRY_MILLISECONDS = 2000 // until presses that the page has not received are sent once more
const WRITING = "input:not([type=radio], [type=checkbox]), textarea, select, [contenteditable], [role=dialog]"
const MOVING = "[role=radiogroup], [role=slider], [role=listbox], [role=img], input"

/** Whether an event happened within what a selector finds. */
const within = (/** @type {Event} */ event, /** @type {string} */ where) =>
  event.composedPath().some((node) => node instanceof Element && node.matches(where))

/** @import { Component } from "../boards/base/script/types.d.ts" */

/**
 * What the one instance on the page knows.
 *
 * @typedef {{title: string, link: string, drawing: string, problem: string, note: string, open: boolean}} Code the
 *   lesson's title and link; `drawing`: an SVG, made by the page; `problem`: why there is none; `note`: how many phones
 *   are here, and warnings; `open`: whether it is the first phase
 * @typedef {{on: true, received: number, left: number, position: string, over: boolean, code: Code}} Lesson `received`: the
 *   number of the last press that the page has received; `over`: whether the last phase is behind
 * @type {{data: Lesson | {on: false, received: number}, trigger: Component["setTriggerValue"],
 *   since: number, clicked: boolean, codeWanted: boolean, ticking?: ReturnType<typeof setInterval>,
 *   again?: ReturnType<typeof setTimeout>}}
 */
const state = {
  data: { on: false, received: 0 },
  trigger: () => {},
  since: 0,
  clicked: false,
  codeWanted: false, // whether Q was pressed before the lesson was here
}
const presses = newPresses()
/** What lies over the page, as long as it is in the document. */
const [clock, blank] = ["lesson-clock", "lesson-blank"].map((className) =>
  Object.assign(document.createElement("div"), { className })
)
const dialog = Object.assign(document.createElement("dialog"), {
  className: "lesson-code",
  ariaLabel: "The link of this lesson as a QR code",
  oncancel: (/** @type {Event} */ event) => event.preventDefault(), // Escape is heard as a key, as all others
})

const send = (/** @type {string} */ key) => state.trigger("pressed", presses.add({ key }))

/**
 * Whether a key belongs to what has the focus: text is written there, or arrows move a choice that was reached by keys.
 * After a click on a guess the arrows still lead through the lesson.
 */
const isForFocus = (/** @type {KeyboardEvent} */ event) =>
  event.ctrlKey || event.metaKey || event.altKey || within(event, WRITING) ||
  (event.key.startsWith("Arrow") && !state.clicked && within(event, MOVING))

function draw() {
  const { data, since } = state
  if (!data.on) {
    clock.remove()
    blank.remove()
    return hideCode()
  }
  if (!clock.isConnected) document.body.append(clock)
  const left = Math.ceil((data.left - (performance.now() - since) / 1000) / 60)
  const position = `${data.position} · ${left >= 0 ? `${left} min left` : `${-left} min over`}`
  clock.textContent = data.over ? "The lesson has ended" : position
}

const click = () => {
  state.clicked = true
}

/** The link of the lesson over the whole screen: its QR code, and the link as text. */
function showCode(/** @type {Code} */ { title, link, drawing, problem, note, open }) {
  if (dialog.open) {
    dialog.children[3].textContent = note
    return
  }
  dialog.dataset.phase = String(open)
  dialog.innerHTML =
    '<h1></h1><div class="drawing" role="img" aria-label="QR code"></div><p class="link"></p><p></p><button>Close</button>'
  const [heading, picture, text, below, close] = dialog.children
  heading.textContent = title
  picture.innerHTML = drawing
  if (!drawing) {
    picture.textContent = problem
    for (const name of ["role", "aria-label"]) picture.removeAttribute(name)
  }
  text.textContent = link
  below.textContent = note
  close.addEventListener("click", closeCode)
  document.body.append(dialog)
  dialog.showModal()
}

/** Whether the QR code that is shown is the first phase. */
const isFirstPhase = () => dialog.dataset.phase === "true"

/** Close the QR code. Where it is the first phase, the lesson goes on with the next one. */
function closeCode() {
  if (isFirstPhase()) send("next")
  hideCode()
}

function hideCode() {
  dialog.close() // gives the focus back
  dialog.remove()
}

/**
 * What a key does.
 *
 * @param {KeyboardEvent} event
 * @returns {void}
 */
function press(event) {
  if (event.key === "Tab") state.clicked = false
  if (isForFocus(event)) return
  if (event.key.toLowerCase() === "p" && !event.shiftKey) return send("present")
  const { data } = state
  if (!data.on && !presses.confirm(data.received)) return // after a P on its way, the next keys are those of the lesson
  if (event.key.toLowerCase() === "b" || event.key === ".") {
    event.preventDefault()
    if (blank.isConnected) blank.remove()
    else document.body.append(blank)
    return
  }
  if (event.key.toLowerCase() === "q") {
    if (!data.on) state.codeWanted = !state.codeWanted // the lesson is on its way, and its code with it
    else if (dialog.open) closeCode()
    else showCode(data.code)
    return
  }
  const key = event.key.length > 1 ? event.key : event.key.toLowerCase()
  if (key === "x" && data.on) document.dispatchEvent(new CustomEvent("lesson-part")) // the picture of the model hears it
  const step = KEYS[key]
  if (!step) return
  event.preventDefault()
  event.stopPropagation()
  if (blank.isConnected) blank.remove() // on a remote, whatever was pressed: first the screen comes back
  else if (!dialog.open || step === "empty") send(step)
  else if (["next", "leave"].includes(step)) closeCode()
  else if (!isFirstPhase()) hideCode()
}

/**
 * Called again with each rerun: what is listened to and what ticks is therefore begun once.
 *
 * @param {Component} component
 */
export default function ({ data, parentElement, setTriggerValue }) {
  if (!state.ticking) {
    document.addEventListener("keydown", press, true) // before what has the focus, which may keep a key to itself
    document.addEventListener("pointerdown", click, true)
    state.ticking = setInterval(draw, 5000)
  }
  const moves = presses.confirm(data.received)
  clearTimeout(state.again)
  if (moves) state.again = setTimeout(() => state.trigger("pressed", presses.again()), RETRY_MILLISECONDS)
  Object.assign(state, { data, trigger: setTriggerValue, since: performance.now() })
  draw()
  const open = data.on && data.code.open && !moves // a press on its way has left this phase
  if (open || (data.on && state.codeWanted)) showCode(data.code)
  else if (dialog.open && isFirstPhase()) hideCode()
  if (data.on) state.codeWanted = false
  // Streamlit also calls this when newer data replace these; what listens and what is shown then stays.
  return () =>
    setTimeout(() => {
      if ((parentElement.host ?? parentElement).isConnected) return
      document.removeEventListener("keydown", press, true)
      document.removeEventListener("pointerdown", click, true)
      clearInterval(state.ticking)
      Object.assign(state, { data: { on: false, received: 0 }, ticking: undefined })
      draw()
    })
}
