// The keys of a lesson: P presents, arrows and page keys (a presenter's remote) step, 1 to 3 guess, S asks the phones
// for seeds, X takes a part of the model away, Q shows the link as a QR code, B blanks, Escape leaves. And the minutes
// left of the step.

import { newPresses } from "../boards/shell/script/presses.js"

/** @type {Record<string, string>} */
const KEYS = { ArrowRight: "next", PageDown: "next", ArrowLeft: "back", PageUp: "back", Escape: "leave", s: "seeds" }
for (const guess of ["1", "2", "3"]) KEYS[guess] = guess
const AGAIN = 2000 // milliseconds until presses that the page has not received are told once more
const WRITING = "input:not([type=radio], [type=checkbox]), textarea, select, [contenteditable], [role=dialog]"
const MOVING = "[role=radiogroup], [role=slider], [role=listbox], [role=img], input"

/** Whether an event happened within what a selector finds. */
const within = (/** @type {Event} */ event, /** @type {string} */ where) =>
  event.composedPath().some((node) => node instanceof Element && node.matches(where))

/** @typedef {import("../boards/shell/script/types.d.ts").Component} Component */

/**
 * What the one instance on the page knows and shows.
 *
 * @typedef {{title: string, link: string, drawing: string, problem: string, warning: string, open: boolean}} Code the
 *   lesson's title and link; `drawing`: an SVG, made by the page; `problem`: why there is none; `open`: whether it is the first beat
 * @typedef {{on: true, received: number, left: number, place: string, code: Code}} Lesson `received`: the number of the
 *   last press that the page has received
 * @type {{data: Lesson | {on: false, received: number, place?: string}, trigger: Component["setTriggerValue"],
 *   blank: HTMLElement | null, clock: HTMLElement | null, code: HTMLDialogElement | null, since: number,
 *   clicked: boolean, asked: boolean, ticking?: ReturnType<typeof setInterval>, again?: ReturnType<typeof setTimeout>}}
 */
const shown = {
  data: { on: false, received: 0 },
  trigger: () => {},
  blank: null,
  clock: null,
  code: null,
  since: 0,
  clicked: false,
  asked: false, // whether Q was pressed before the lesson was here
}
const presses = newPresses()

const tell = (/** @type {string} */ key) => shown.trigger("pressed", presses.add({ key }))

/**
 * Whether a key belongs to what has the focus: text is written there, or arrows move a choice that was reached by keys.
 * After a click on a guess the arrows still lead through the lesson.
 */
const taken = (/** @type {KeyboardEvent} */ event) =>
  event.ctrlKey || event.metaKey || event.altKey || within(event, WRITING) ||
  (event.key.startsWith("Arrow") && !shown.clicked && within(event, MOVING))

function draw() {
  const { data, since } = shown
  if (!data.on) {
    for (const node of [shown.clock, shown.blank, shown.code]) node?.remove()
    Object.assign(shown, { clock: null, blank: null, code: null })
    return
  }
  shown.clock ??= added("lesson-clock")
  const left = Math.ceil((data.left - (performance.now() - since) / 1000) / 60)
  shown.clock.textContent = `${data.place} · ${left >= 0 ? `${left} min left` : `${-left} min over`}`
}

/** A new node of that class over the page. */
function added(/** @type {string} */ name) {
  const node = document.createElement("div")
  node.className = name
  document.body.append(node)
  return node
}

const click = () => {
  shown.clicked = true
}

function wake() {
  shown.blank?.remove()
  shown.blank = null
}

/** The link of the lesson over the whole screen: its QR code, and the link as text. */
function showCode(/** @type {Code} */ { title, link, drawing, problem, warning, open }) {
  if (shown.code) return
  const node = document.createElement("dialog")
  node.className = "lesson-code"
  node.dataset.beat = String(open)
  node.setAttribute("aria-label", "The link of this lesson as a QR code")
  node.innerHTML =
    '<h1></h1><div class="drawing" role="img" aria-label="QR code"></div><p class="link"></p><p></p><button>Close</button>'
  const [heading, picture, text, note, close] = node.children
  heading.textContent = title
  picture.innerHTML = drawing
  if (!drawing) {
    picture.textContent = problem
    for (const name of ["role", "aria-label"]) picture.removeAttribute(name)
  }
  text.textContent = link
  note.textContent = warning
  close.addEventListener("click", closeCode)
  node.oncancel = (event) => event.preventDefault() // Escape is heard as a key, as all others
  document.body.append(node)
  node.showModal()
  shown.code = node
}

/** Close the QR code. Where it is the first beat, the lesson goes on with the next one. */
function closeCode() {
  if (shown.code?.dataset.beat === "true") tell("next")
  hideCode()
}

function hideCode() {
  shown.code?.close() // gives the focus back
  shown.code?.remove()
  shown.code = null
}

/**
 * What a key does.
 *
 * @param {KeyboardEvent} event
 * @returns {void}
 */
function press(event) {
  if (event.key === "Tab") shown.clicked = false
  if (taken(event)) return
  if (event.key.toLowerCase() === "p" && !event.shiftKey) return tell("present")
  const { data, code } = shown
  if (!data.on && !presses.confirm(data.received)) return // after a P on its way, the next keys are those of the lesson
  if (event.key.toLowerCase() === "b" || event.key === ".") {
    event.preventDefault()
    if (shown.blank) wake()
    else shown.blank = added("lesson-blank")
    return
  }
  if (event.key.toLowerCase() === "q") {
    if (!data.on) shown.asked = !shown.asked // the lesson is on its way, and its code with it
    else if (code) closeCode()
    else showCode(data.code)
    return
  }
  const key = event.key.length > 1 ? event.key : event.key.toLowerCase()
  if (key === "x" && data.on) document.dispatchEvent(new CustomEvent("lesson-part")) // the picture of the model hears it
  const step = KEYS[key]
  if (!step) return
  event.preventDefault()
  event.stopPropagation()
  if (shown.blank) wake() // on a remote, whatever was pressed: first the screen comes back
  else if (!code) tell(step)
  else if (["next", "leave"].includes(step)) closeCode()
  else if (code.dataset.beat === "false") hideCode()
}

/**
 * Called again with each rerun: what is listened to and what ticks is therefore begun once.
 *
 * @param {Component} component
 */
export default function ({ data, parentElement, setTriggerValue }) {
  if (!shown.ticking) {
    document.addEventListener("keydown", press, true) // before what has the focus, which may keep a key to itself
    document.addEventListener("pointerdown", click, true)
    shown.ticking = setInterval(draw, 5000)
  }
  const { place } = shown.data
  const moves = presses.confirm(data.received)
  clearTimeout(shown.again)
  if (moves) shown.again = setTimeout(() => shown.trigger("pressed", presses.again()), AGAIN)
  Object.assign(shown, { data, trigger: setTriggerValue, since: performance.now() })
  draw()
  if (data.on && data.place !== place) document.querySelector("[data-testid=stMain]")?.scrollTo(0, 0)
  const open = data.on && data.code.open && !moves // a press on its way has left this beat
  if (open || (data.on && shown.asked)) showCode(data.code)
  else if (shown.code?.dataset.beat === "true") hideCode()
  if (data.on) shown.asked = false
  // Streamlit also calls this when newer data replace these; what listens and what is shown then stays.
  return () =>
    setTimeout(() => {
      if ((parentElement.host ?? parentElement).isConnected) return
      document.removeEventListener("keydown", press, true)
      document.removeEventListener("pointerdown", click, true)
      clearInterval(shown.ticking)
      Object.assign(shown, { data: { on: false, received: 0 }, ticking: undefined })
      draw()
    })
}
