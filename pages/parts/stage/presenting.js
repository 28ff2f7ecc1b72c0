// The keys of a lesson: P presents, arrows and page keys (a presenter's remote) step, 1 to 3 guess, B blanks, Escape
// leaves. And the minutes left.

/** @type {Record<string, string>} */
const KEYS = { ArrowRight: "next", PageDown: "next", ArrowLeft: "back", PageUp: "back", Escape: "leave" }
const WRITING = "input:not([type=radio], [type=checkbox]), textarea, select, [contenteditable], [role=dialog]"
const MOVING = "[role=radiogroup], [role=slider], [role=listbox], [role=img], input"

/** Whether an event happened within what a selector finds. */
const within = (/** @type {Event} */ event, /** @type {string} */ where) =>
  event.composedPath().some((node) => node instanceof Element && node.matches(where))

const GUESSES = ".st-key-stage-question [role=radio]"

/** @typedef {import("../boards/shell/script/types.d.ts").Component} Component */

/**
 * What the one instance on the page knows and shows.
 *
 * @type {{data: {on: boolean, left?: number, place?: string} | null, tell: Component["setTriggerValue"] | null,
 *   blank: HTMLElement | null, clock: HTMLElement | null, since: number, clicked: boolean,
 *   ticking?: ReturnType<typeof setInterval>}}
 */
const shown = { data: null, tell: null, blank: null, clock: null, since: 0, clicked: false }

/**
 * Whether a key belongs to what has the focus: text is written there, or arrows move a choice that was reached by keys.
 * After a click on a guess the arrows still lead through the lesson.
 *
 * @param {KeyboardEvent} event
 */
const taken = (event) =>
  event.ctrlKey || event.metaKey || event.altKey || within(event, WRITING) ||
  (event.key.startsWith("Arrow") && !shown.clicked && within(event, MOVING))

function draw() {
  const { data, since } = shown
  if (!data.on) {
    shown.clock?.remove()
    shown.blank?.remove()
    shown.clock = shown.blank = null
    return
  }
  shown.clock ??= added("lesson-clock")
  const left = Math.ceil((data.left - (performance.now() - since) / 1000) / 60)
  shown.clock.textContent = `${data.place} · ${left >= 0 ? `${left} min left` : `${-left} min over`}`
}

/**
 * A new node of that class over the page.
 *
 * @param {string} name
 */
function added(name) {
  const node = document.createElement("div")
  node.className = name
  document.body.append(node)
  return node
}

const click = () => {
  shown.clicked = true
}

function wake() {
  shown.blank.remove()
  shown.blank = null
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
  if (event.key.toLowerCase() === "p" && !event.shiftKey) return void shown.tell("pressed", "present")
  if (!shown.data.on) return
  if (event.key.toLowerCase() === "b" || event.key === ".") {
    event.preventDefault()
    if (shown.blank) wake()
    else shown.blank = added("lesson-blank")
    return
  }
  if (["1", "2", "3"].includes(event.key)) {
    const guess = document.querySelectorAll(GUESSES)[Number(event.key) - 1]
    return void (guess instanceof HTMLElement && guess.click())
  }
  const step = KEYS[event.key]
  if (!step) return
  event.preventDefault()
  event.stopPropagation()
  if (shown.blank) wake() // on a remote, whatever was pressed: first the screen comes back
  else shown.tell("pressed", step)
}

/**
 * Called again with each rerun: what is listened to and what ticks is therefore begun once.
 *
 * @param {Component} component
 */
export default function ({ data, setTriggerValue }) {
  if (!shown.data) {
    document.addEventListener("keydown", press, true) // before what has the focus, which may keep a key to itself
    document.addEventListener("pointerdown", click, true)
    shown.ticking = setInterval(draw, 5000)
  }
  Object.assign(shown, { data, tell: setTriggerValue, since: performance.now() })
  draw()
  return () => {
    document.removeEventListener("keydown", press, true)
    document.removeEventListener("pointerdown", click, true)
    clearInterval(shown.ticking)
    shown.data = { on: false }
    draw()
    shown.data = null
  }
}
