// How the picture is controlled by pointer and keys: the symbols of the sequence, the box at a part, the focus that arrow keys
// move.

import { columnAt } from "./layout.js"
import { ARROWS, el } from "../../../base/script/dom.js"

/** @import { Layout } from "./layout.js" */
/** @import { Question } from "./looks.js" */
/** @import { At, Sample } from "../types.d.ts" */

/** @typedef {{kind: string, place: number, text: string, class: string, label?: string}} Cell of a row of symbols */
/** @typedef {{before: Sample | undefined, places: number[]}} Changed the sample before the change, and where its answers differ */

const SPANS = ["the question", "the answer so far"] // what the row "reads" holds
const LEAST_DRAG = 4 // pixels from which on a press is a move
const judged = (/** @type {boolean | null | undefined} */ mark) => mark == null ? "unasked" : mark ? "right" : "wrong"

/**
 * The rows of one sequence.
 *
 * @param {Object} told
 * @param {(at: At | null) => void} told.onPoint the pointer is on a symbol, or on none
 * @param {(at: At) => void} told.onChoose
 * @param {(one: number, other: number) => void} told.onSwap places within the question
 */
export function symbolRows({ onPoint, onChoose, onSwap }) {
  const rows = {
    reads: symbolRow("reads", "reads"),
    spans: symbolRow("spans", "that is"),
    must: symbolRow("must", "must write"),
    writes: symbolRow("writes", "writes"),
  }
  const root = el(
    "div",
    { class: "symbols", role: "grid", "aria-label": "The sequence", hidden: true },
    ...Object.values(rows).map((row) => row.root),
  )
  /** @type {Layout} */
  let layout
  /** @type {Question} */
  let question
  let movable = false
  const focus = rovingFocus(root, "[data-reads], [data-source]", (node) => {
    const at = placeOf(node)
    if (at) onChoose(at)
  })

  const cell = (
    /** @type {At} */ { kind, place },
  ) => /** @type {HTMLElement | null} */ (root.querySelector(`[data-${kind}="${place}"]`))
  const inQuestion = (/** @type {At} */ { kind, place }) =>
    movable && kind === question.kind && place >= question.first && place < question.first + question.symbols.length

  /** @type {EventTarget | null} */
  let rested = null // the symbol on which another was dropped, as long as the pointer rests there
  root.onpointerover = ({ target }) => {
    if (target === rested) return
    rested = null
    onPoint(placeOf(target))
  }
  root.onpointerleave = () => {
    rested = null
    onPoint(null)
  }
  root.onmousedown = (event) => placeOf(event.target) && event.preventDefault() // the focus is set below
  root.onkeydown = (event) => {
    const [by] = ARROWS[event.key] ?? [0]
    const at = placeOf(event.target)
    if (!by || !event.shiftKey || !at) return
    const to = { ...at, place: at.place + by }
    event.preventDefault()
    if (!inQuestion(at) || !inQuestion(to)) return
    onSwap(at.place - question.first, to.place - question.first)
    cell(to)?.focus()
  }
  root.onpointerdown = (event) => {
    const [node, at] = [event.target, placeOf(event.target)]
    if (!at || event.button || !(node instanceof HTMLElement)) return
    if (!inQuestion(at)) return node.focus()
    const left = root.getBoundingClientRect().left
    let moved = false
    /** @type {HTMLElement | null} */
    let target = null
    const aim = (/** @type {At | null} */ to) => {
      target?.classList.remove("drop")
      target = to && inQuestion(to) && to.place !== at.place ? cell(to) : null
      target?.classList.add("drop")
    }
    const move = (/** @type {PointerEvent} */ now) => {
      const by = now.clientX - event.clientX
      if (!moved && Math.abs(by) < LEAST_DRAG) return
      if (!moved) onPoint(null) // while a symbol moves, the chosen one is followed
      moved = true
      node.classList.add("dragged")
      node.style.transform = `translateX(${by}px)`
      aim(columnAt(layout, now.clientX - left))
    }
    const end = (/** @type {PointerEvent} */ now) => {
      node.onpointermove = node.onpointerup = node.onpointercancel = null
      node.classList.remove("dragged")
      node.style.transform = ""
      const to = now.type === "pointerup" && target ? placeOf(target) : null
      if (moved) rested = target ?? node
      else if (now.type === "pointerup") node.focus()
      aim(null)
      if (to) onSwap(at.place - question.first, to.place - question.first)
    }
    node.setPointerCapture(event.pointerId)
    Object.assign(node, { onpointermove: move, onpointerup: end, onpointercancel: end })
  }

  /** Show a sample, whose question can be moved if it is free, and whose answers have changed. */
  const draw = (
    /** @type {Sample} */ sample,
    /** @type {Layout} */ place,
    /** @type {Question} */ asked,
    /** @type {boolean} */ free,
    /** @type {Changed} */ { before, places },
  ) => {
    layout = place
    question = asked
    movable = free
    const { firsts } = place
    const positions = sample.tokens.map((_, at) => at).slice(firsts.reads)
    const sources = sample.source.map((_, at) => at).slice(firsts.source)
    root.classList.toggle("narrow", !place.left)
    const style = {
      "--pitch": place.pitch,
      "--left": place.left,
      "--letters": place.letters,
      "--apart": sources.length ? place.pitch : 0,
    }
    for (const [name, value] of Object.entries(style)) root.style.setProperty(name, `${value}px`)
    root.style.setProperty("--sources", `${sources.length * place.pitch}px`)
    const asks = (/** @type {number} */ at) => sample.marks[at] != null
    rows.reads.fill([
      ...sources.map((at) => ({
        kind: "source",
        place: at,
        text: sample.source[at],
        class: inQuestion({ kind: "source", place: at }) ? "movable" : "",
        label: `source position ${at + 1}: ${sample.source[at]}`,
      })),
      ...positions.map((at) => ({
        kind: "reads",
        place: at,
        text: sample.tokens[at],
        class: inQuestion({ kind: "reads", place: at }) ? "movable" : "",
        label: saidOf(sample, at) + (places.includes(at) ? `; before it wrote ${before?.predictions[at]}` : ""),
      })),
    ])
    // A decoder's answer follows its question in one row: training shows it the right answer up to the present place.
    const asksUpTo = Math.max(0, question.first + question.symbols.length - firsts.reads)
    const given = question.kind === "reads" && asksUpTo ? positions.length - asksUpTo : 0
    root.style.setProperty("--asked", `${asksUpTo}`)
    root.style.setProperty("--given", `${given}`)
    rows.spans.fill(given > 0 ? SPANS.map((text, at) => ({ kind: "span", place: at, text, class: "" })) : [])
    rows.must.fill(
      positions.map((at) => ({
        kind: "must",
        place: at,
        text: sample.targets[at],
        class: asks(at) && before && before.targets[at] !== sample.targets[at] ? "changed" : "",
      })),
    )
    rows.writes.fill(
      positions.map((at) => ({
        kind: "writes",
        place: at,
        text: asks(at) ? sample.predictions[at] : "",
        class: `${judged(sample.marks[at])}${places.includes(at) ? " changed" : ""}`,
      })),
    )
    focus.refresh()
  }
  /** Outline the chosen symbol and those that its answer comes from. */
  const mark = (/** @type {At | null} */ chosen, /** @type {At[]} */ read) => {
    for (const node of /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll("[data-reads], [data-source]"))) {
      const isAt = (/** @type {At | null} */ at) => at != null && node.dataset[at.kind] === `${at.place}`
      const selected = isAt(chosen)
      node.classList.toggle("pointed", selected)
      node.classList.toggle("read", read.some(isAt))
      if (selected !== (node.ariaSelected === "true")) node.ariaSelected = `${selected}`
    }
  }
  return { root, draw, mark }
}

/** One row, whose cells are kept; only what differs is written. */
function symbolRow(/** @type {string} */ name, /** @type {string} */ label) {
  const line = el("div", { class: "cells", role: "presentation" })
  const root = el(
    "div",
    { class: `row ${name}`, role: "row" },
    el("span", { class: "row-name", role: "rowheader" }, label),
    line,
  )
  /** @type {{node: HTMLElement, drawn: Partial<Cell>}[]} */
  const cells = []
  const fill = (/** @type {Cell[]} */ wanted) => {
    while (cells.length > wanted.length) cells.pop()?.node.remove()
    wanted.forEach((one, at) => {
      if (!cells[at]) {
        cells[at] = { node: el("span", { role: "gridcell" }), drawn: {} }
        line.append(cells[at].node)
      }
      const { node, drawn } = cells[at]
      if (drawn.kind !== one.kind || drawn.place !== one.place) {
        for (const kind of ["source", "reads", "span", "must", "writes"]) node.removeAttribute(`data-${kind}`)
        node.setAttribute(`data-${one.kind}`, `${one.place}`)
        if (one.kind === "reads" || one.kind === "source") node.tabIndex = -1
      }
      if (drawn.text !== one.text) node.textContent = one.text
      if (drawn.class !== one.class) node.className = one.class // what is outlined is marked anew after each drawing
      if (one.label && drawn.label !== one.label) node.setAttribute("aria-label", one.label)
      cells[at].drawn = one
    })
  }
  return { root, fill }
}

/** A position in words: what it reads, must write and writes. */
function saidOf(/** @type {Sample} */ sample, /** @type {number} */ at) {
  const read = `position ${at + 1} reads ${sample.tokens[at]}`
  if (sample.marks[at] == null) return read
  return `${read}, must write ${sample.targets[at]}, writes ${sample.predictions[at]}: ${judged(sample.marks[at])}`
}

/**
 * The symbol that an element is, if it is one.
 *
 * @param {EventTarget | null} node
 * @returns {At | null}
 */
function placeOf(node) {
  const { reads, source } = node instanceof HTMLElement ? node.dataset : {}
  if (reads != null) return { kind: "reads", place: Number(reads) }
  return source != null ? { kind: "source", place: Number(source) } : null
}

const APART = 5 // pixels between the box and its part

/** @typedef {{label: string, act: () => void, why?: string}} Choice `why`: the reason why it cannot be pressed */
/**
 * What a box says, line by line, and offers; `picture` makes what it shows above its words.
 *
 * @typedef {{title: string, says: string | string[], picture?: () => Node, notes?: string[], buttons: Choice[]}} BoxWords
 */

/**
 * The box; it stays within `root`, of which it is a child. `show` shows what can be done with a part beside its
 * element, and for the element that has the box closes it; `refresh` brings the open box up to date.
 */
export function partBox(/** @type {HTMLElement} */ root) {
  const [title, about, choices] = [el("strong"), el("div"), el("div", { class: "choices" })]
  const close = el("button", { type: "button", class: "close", "aria-label": "Close", onclick: () => hide() }, "×")
  const box = el("div", { class: "part-box", role: "dialog", tabindex: -1, hidden: true }, title, about, choices, close)
  /** @type {HTMLElement | null} */
  let anchor = null
  let words = () => /** @type {BoxWords} */ ({ title: "", says: "", buttons: [] })
  let drawn = ""
  root.append(box)
  const holds = (/** @type {EventTarget | null} */ node) => box.contains(/** @type {Node | null} */ (node))
  const focused = () => /** @type {Document | ShadowRoot} */ (box.getRootNode()).activeElement
  box.addEventListener("focusout", ({ relatedTarget }) => {
    if (document.hasFocus() && relatedTarget !== anchor && !holds(relatedTarget)) hide()
  })

  const hide = () => {
    if (box.hidden) return
    const inside = holds(focused())
    box.hidden = true
    anchor?.setAttribute("aria-expanded", "false")
    if (inside) anchor?.focus()
    anchor = null
  }
  const press = (/** @type {string} */ label) => {
    const pressed = words().buttons.find((one) => one.label === label)
    hide()
    pressed?.act()
  }
  /** Write the words and the buttons. A button stays as long as its label, so that a press on it is not lost. */
  const fill = () => {
    const told = words()
    const now = JSON.stringify(told)
    if (now === drawn) return
    drawn = now
    const reasons = new Set(told.buttons.map(({ why = "" }) => why))
    const notes = [...told.notes ?? [], ...reasons].filter(Boolean)
    title.textContent = told.title
    box.setAttribute("aria-label", told.title)
    about.replaceChildren(
      ...(told.picture ? [told.picture()] : []),
      ...[told.says].flat().map((line) => el("p", {}, line)),
      ...notes.map((note) => el("p", { class: "note" }, note)),
    )
    const labels = told.buttons.map(({ label }) => label)
    const nodes = () => /** @type {HTMLButtonElement[]} */ ([...choices.children])
    if (nodes().map(({ textContent }) => textContent).join("\n") !== labels.join("\n")) {
      if (holds(focused())) box.focus({ preventScroll: true })
      choices.replaceChildren(
        ...labels.map((label) => el("button", { type: "button", onclick: () => press(label) }, label)),
      )
    }
    nodes().forEach((node, at) => {
      const { why = "" } = told.buttons[at]
      node.disabled = Boolean(why)
      node.title = why
    })
  }
  const place = () => {
    const outer = root.getBoundingClientRect()
    const part = /** @type {HTMLElement} */ (anchor).getBoundingClientRect()
    const [left, top] = besidePart(
      { left: part.left - outer.left, top: part.top - outer.top, width: part.width, height: part.height },
      { width: box.offsetWidth, height: box.offsetHeight },
      outer,
    )
    Object.assign(box.style, { left: `${left}px`, top: `${top}px` })
  }
  const refresh = () => {
    if (box.hidden) return
    const before = drawn
    fill()
    if (drawn !== before) place()
  }
  const show = (/** @type {HTMLElement} */ at, /** @type {() => BoxWords} */ told) => {
    if (anchor === at) return hide()
    hide()
    anchor = at
    box.dataset.name = at.dataset.name ?? "" // it belongs to its part
    words = told
    fill()
    box.hidden = false
    at.setAttribute("aria-expanded", "true")
    place()
    /** @type {HTMLButtonElement | null} */
    const first = box.querySelector("button:not(:disabled)")
    first?.focus({ preventScroll: true })
  }
  root.addEventListener("keydown", (event) => event.key === "Escape" && hide())
  root.addEventListener("pointerdown", ({ target }) => {
    if (!holds(target) && !anchor?.contains(/** @type {Node} */ (target))) hide()
  })
  return { show, refresh, hide }
}

/**
 * Where a box stands so that it covers its part only where there is no room: below, above, at the left or at the right.
 *
 * @param {{left: number, top: number, width: number, height: number}} part
 * @param {{width: number, height: number}} box
 * @param {{width: number, height: number}} outer
 * @returns {[number, number]} from the left and from above
 */
export function besidePart(part, box, outer) {
  const within = (/** @type {number} */ wanted, /** @type {number} */ size, /** @type {number} */ room) =>
    Math.max(0, Math.min(wanted, room - size))
  const left = within(part.left, box.width, outer.width)
  const top = within(part.top, box.height, outer.height)
  const [below, above] = [part.top + part.height + APART, part.top - box.height - APART]
  if (below + box.height <= outer.height) return [left, below]
  if (above >= 0) return [left, above]
  if (part.left - APART >= box.width) return [part.left - APART - box.width, top]
  if (part.left + part.width + APART + box.width <= outer.width) return [part.left + part.width + APART, top]
  return [left, within(below, box.height, outer.height)] // there is no room: it covers its part
}

/**
 * The box to which an arrow key leads from one box: of those in its direction the nearest, sideways counting thrice.
 *
 * @param {{x: number, y: number}[]} middles
 * @param {number} from
 * @param {[number, number]} direction
 * @returns {number} its number; `from` where there is none
 */
export function towardsArrow(middles, from, [right, down]) {
  const { x, y } = middles[from]
  let [found, least] = [from, Infinity]
  middles.forEach((other, at) => {
    const [along, across] = right ? [(other.x - x) * right, other.y - y] : [(other.y - y) * down, other.x - x]
    const distance = along + 3 * Math.abs(across)
    if (at !== from && along > 1 && distance < least) [found, least] = [at, distance]
  })
  return found
}

/**
 * Keeps one of the elements that a selector finds in `root` in the order of tabs, the one that had the focus last.
 *
 * @param {HTMLElement} root
 * @param {string} selector
 * @param {(node: HTMLElement) => void} [entered] called with the element that gets the focus
 * @returns {{refresh: () => void}} `refresh` after elements came or went
 */
export function rovingFocus(root, selector, entered = () => {}) {
  /** @type {HTMLElement | null} */
  let present = null
  const all = () =>
    /** @type {HTMLElement[]} */ ([...root.querySelectorAll(selector)]).filter((node) =>
      node.offsetParent && !node.matches(":disabled")
    )
  const nearest = (
    /** @type {EventTarget | null} */ target,
  ) => /** @type {HTMLElement | null} */ (/** @type {Element} */ (target).closest(selector))
  const hold = (/** @type {HTMLElement | null} */ node) => {
    if (present && present !== node) present.tabIndex = -1
    present = node
    if (node) node.tabIndex = 0
  }
  root.addEventListener("focusin", ({ target }) => {
    const node = nearest(target)
    if (!node) return
    hold(node)
    entered(node)
  })
  root.addEventListener("keydown", (event) => {
    const arrow = ARROWS[event.key]
    const node = nearest(event.target)
    if (!arrow || !node || event.shiftKey || event.altKey || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    const nodes = all()
    const middles = nodes.map((one) => {
      const box = one.getBoundingClientRect()
      return { x: box.x + box.width / 2, y: box.y + box.height / 2 }
    })
    nodes[towardsArrow(middles, nodes.indexOf(node), arrow)]?.focus()
  })
  const refresh = () => {
    hold(present && root.contains(present) && present.matches(selector) ? present : root.querySelector(selector))
  }
  return { refresh }
}
