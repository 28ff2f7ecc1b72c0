// The keys of a lesson: P presents, arrows and page keys (a presenter's remote) step, B blanks, Escape leaves. And the minutes left.

const KEYS = { ArrowRight: "next", PageDown: "next", ArrowLeft: "back", PageUp: "back", Escape: "leave" }
const WRITING = "input:not([type=radio], [type=checkbox]), textarea, select, [contenteditable], [role=dialog]"
const MOVING = "[role=radiogroup], [role=slider], [role=listbox], [role=img], input"

const within = (event, where) => event.composedPath().some((node) => node instanceof Element && node.matches(where))

/** Whether a key belongs to what has the focus: text is written there, or arrows move a choice. */
const taken = (event) =>
  event.ctrlKey || event.metaKey || event.altKey || within(event, WRITING) || (event.key.startsWith("Arrow") && within(event, MOVING))

const shown = { data: null, tell: null, blank: null, clock: null, since: 0 } // of the one instance on the page

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

function added(name) {
  const node = document.createElement("div")
  node.className = name
  document.body.append(node)
  return node
}

function press(event) {
  if (taken(event)) return
  if (event.key.toLowerCase() === "p" && !event.shiftKey) return void shown.tell("pressed", "present")
  if (!shown.data.on) return
  if (event.key.toLowerCase() === "b" || event.key === ".") {
    event.preventDefault()
    shown.blank = shown.blank ? void shown.blank.remove() : added("lesson-blank")
    return
  }
  const step = KEYS[event.key]
  if (!step) return
  event.preventDefault()
  shown.tell("pressed", step)
}

/** Called again with each rerun: what is listened to and what ticks is therefore begun once. */
export default function ({ data, setTriggerValue }) {
  if (!shown.data) {
    document.addEventListener("keydown", press)
    shown.ticking = setInterval(draw, 5000)
  }
  Object.assign(shown, { data, tell: setTriggerValue, since: performance.now() })
  draw()
  return () => {
    document.removeEventListener("keydown", press)
    clearInterval(shown.ticking)
    shown.data = { on: false }
    draw()
    shown.data = null
  }
}
