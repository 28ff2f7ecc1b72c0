// How the picture is controlled by pointer and keys: the symbols of the sequence, the box at a part, the focus that arrow keys
// move.

import { columnAt } from "./layout.js"
import { ARROWS, el } from "../../../base/script/dom.js"

/** @import { Layout } from "./layout.js" */
/** @import { Question } from "./interventions.js" */
/** @import { At, Sample } from "../types.d.ts" */

/** @typedef {{kind: string, position: number, text: string, class: string, label?: string}} Cell of a row of symbols */
/** @typedef {{before: Sample | undefined, positions: number[]}} Changed the sample before the change, and where its answers differ */

const SPANS = ["the question", "the answer so far"] // what the row "reads" holds
const LONGEST_SYMBOL = 3 // letters; what is longer is a word
const NARROWEST_WORD = 24 // pixels of a position below which words stand upright
const LEAST_DRAG = 4 // pixels from which on a press is a move
const judged = (/** @type {boolean | null | undefined} */ mark) => mark == null ? "unasked" : mark ? "right" : "wrong"

/**
 * The rows of one sequence.
 *
 * @param {Object} handlers
 * @param {(at: At | null) => void} handlers.onPoint the pointer is on a symbol, or on none
 * @param {(at: At) => void} handlers.onChoose
 * @param {(one: number, other: number) => void} handlers.onSwap indices within the question
 */
export function symbolRows({ onPoint, onChoose, onSwap }) {
  const rows = {
    reads: symbolRow("reads", "reads"),
    spans: symbolRow("spans", "part of"),
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
    const at = symbolOf(node)
    if (at) onChoose(at)
  })

  const cell = (
    /** @type {At} */ { kind, position },
  ) => /** @type {HTMLElement | null} */ (root.querySelector(`[data-${kind}="${position}"]`))
  const inQuestion = (/** @type {At} */ { kind, position }) =>
    movable && kind === question.kind && position >= question.first &&
    position < question.first + question.symbols.length

  /** @type {EventTarget | null} */
  let rested = null // the symbol on which another was dropped, as long as the pointer rests there
  root.onpointerover = ({ target }) => {
    if (target === rested) return
    rested = null
    onPoint(symbolOf(target))
  }
  root.onpointerleave = () => {
    rested = null
    onPoint(null)
  }
  root.onmousedown = (event) => symbolOf(event.target) && event.preventDefault() // the focus is set below
  root.onkeydown = (event) => {
    const [by] = ARROWS[event.key] ?? [0]
    const at = symbolOf(event.target)
    if (!by || !event.shiftKey || !at) return
    const to = { ...at, position: at.position + by }
    event.preventDefault()
    if (!inQuestion(at) || !inQuestion(to)) return
    onSwap(at.position - question.first, to.position - question.first)
    cell(to)?.focus()
  }
  root.onpointerdown = (event) => {
    const [node, at] = [event.target, symbolOf(event.target)]
    if (!at || event.button || !(node instanceof HTMLElement)) return
    if (!inQuestion(at)) return node.focus()
    const left = root.getBoundingClientRect().left
    let moved = false
    /** @type {HTMLElement | null} */
    let target = null
    const aim = (/** @type {At | null} */ to) => {
      target?.classList.remove("drop")
      target = to && inQuestion(to) && to.position !== at.position ? cell(to) : null
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
      const to = now.type === "pointerup" && target ? symbolOf(target) : null
      if (moved) rested = target ?? node
      else if (now.type === "pointerup") node.focus()
      aim(null)
      if (to) onSwap(at.position - question.first, to.position - question.first)
    }
    node.setPointerCapture(event.pointerId)
    Object.assign(node, { onpointermove: move, onpointerup: end, onpointercancel: end })
  }

  /** Show a sample, whose question can be moved if it is free, and whose answers have changed. */
  const draw = (
    /** @type {Sample} */ sample,
    /** @type {Layout} */ newLayout,
    /** @type {Question} */ newQuestion,
    /** @type {boolean} */ free,
    /** @type {Changed} */ { before, positions: changed },
  ) => {
    layout = newLayout
    question = newQuestion
    movable = free
    const { firsts } = layout
    const positions = sample.tokens.map((_, at) => at).slice(firsts.reads)
    const sources = sample.source.map((_, at) => at).slice(firsts.source)
    root.classList.toggle("narrow", !layout.left)
    const style = {
      "--pitch": layout.pitch,
      "--left": layout.left,
      "--letters": layout.letters,
      "--apart": sources.length ? layout.pitch : 0,
    }
    for (const [name, value] of Object.entries(style)) root.style.setProperty(name, `${value}px`)
    root.style.setProperty("--sources", `${sources.length * layout.pitch}px`)
    // Words have letters of their own size each; on a narrow screen they stand upright.
    const { tokens, source, targets, predictions } = sample
    const longest = Math.max(...[...tokens, ...source, ...targets, ...predictions].map((token) => token.length))
    const words = longest > LONGEST_SYMBOL
    root.classList.toggle("words", words)
    root.classList.toggle("upright", words && layout.pitch < NARROWEST_WORD)
    root.style.setProperty("--longest", `${longest}`)
    const asks = (/** @type {number} */ at) => sample.marks[at] != null
    rows.reads.fill([
      ...sources.map((at) => ({
        kind: "source",
        position: at,
        text: sample.source[at],
        class: inQuestion({ kind: "source", position: at }) ? "movable" : "",
        label: `source position ${at + 1}: ${sample.source[at]}`,
      })),
      ...positions.map((at) => ({
        kind: "reads",
        position: at,
        text: sample.tokens[at],
        class: inQuestion({ kind: "reads", position: at }) ? "movable" : "",
        label: labelOf(sample, at) + (changed.includes(at) ? `; before it wrote ${before?.predictions[at]}` : ""),
      })),
    ])
    // A decoder's answer follows its question in one row: training shows it the right answer up to the present place.
    const questionEnd = Math.max(0, question.first + question.symbols.length - firsts.reads)
    const given = question.kind === "reads" && questionEnd ? positions.length - questionEnd : 0
    root.style.setProperty("--question", `${questionEnd}`)
    root.style.setProperty("--given", `${given}`)
    rows.spans.fill(given > 0 ? SPANS.map((text, at) => ({ kind: "span", position: at, text, class: "" })) : [])
    const continued = continues(sample)
    rows.must.root.hidden = continued
    rows.writes.header.textContent = continued ? "writes next" : "writes"
    rows.must.fill(
      positions.map((at) => ({
        kind: "must",
        position: at,
        text: sample.targets[at],
        class: asks(at) && before && before.targets[at] !== sample.targets[at] ? "changed" : "",
      })),
    )
    rows.writes.fill(
      positions.map((at) => ({
        kind: "writes",
        position: at,
        text: asks(at) ? sample.predictions[at] : "",
        class: `${judged(sample.marks[at])}${changed.includes(at) ? " changed" : ""}`,
      })),
    )
    focus.refresh()
  }
  /** Outline the chosen symbol and those that its answer comes from. */
  const mark = (/** @type {At | null} */ chosen, /** @type {At[]} */ read) => {
    for (const node of /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll("[data-reads], [data-source]"))) {
      const isAt = (/** @type {At | null} */ at) => at != null && node.dataset[at.kind] === `${at.position}`
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
  const header = el("span", { class: "row-name", role: "rowheader" }, label)
  const root = el("div", { class: `row ${name}`, role: "row" }, header, line)
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
      if (drawn.kind !== one.kind || drawn.position !== one.position) {
        for (const kind of ["source", "reads", "span", "must", "writes"]) node.removeAttribute(`data-${kind}`)
        node.setAttribute(`data-${one.kind}`, `${one.position}`)
        if (one.kind === "reads" || one.kind === "source") node.tabIndex = -1
      }
      if (drawn.text !== one.text) {
        node.textContent = one.text
        node.style.setProperty("--length", `${Math.max(1, one.text.length)}`)
      }
      if (drawn.class !== one.class) node.className = one.class // what is outlined is marked anew after each drawing
      if (one.label && drawn.label !== one.label) node.setAttribute("aria-label", one.label)
      cells[at].drawn = one
    })
  }
  return { root, header, fill }
}

/** True for a text: each position must write what the next one reads, so the row of right answers would repeat the row above it. */
export function continues(/** @type {Sample} */ { source, tokens, targets, marks }) {
  return !source.length &&
    targets.every((target, at) => marks[at] != null && (at + 1 === tokens.length || target === tokens[at + 1]))
}

/** A position in words: what it reads, must write and writes. */
function labelOf(/** @type {Sample} */ sample, /** @type {number} */ at) {
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
function symbolOf(node) {
  const { reads, source } = node instanceof HTMLElement ? node.dataset : {}
  if (reads != null) return { kind: "reads", position: Number(reads) }
  return source != null ? { kind: "source", position: Number(source) } : null
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
    const content = words()
    const now = JSON.stringify(content)
    if (now === drawn) return
    drawn = now
    const reasons = new Set(content.buttons.map(({ why = "" }) => why))
    const notes = [...content.notes ?? [], ...reasons].filter(Boolean)
    title.textContent = content.title
    box.setAttribute("aria-label", content.title)
    about.replaceChildren(
      ...(content.picture ? [content.picture()] : []),
      ...[content.says].flat().map((line) => el("p", {}, line)),
      ...notes.map((note) => el("p", { class: "note" }, note)),
    )
    const labels = content.buttons.map(({ label }) => label)
    const nodes = () => /** @type {HTMLButtonElement[]} */ ([...choices.children])
    if (nodes().map(({ textContent }) => textContent).join("\n") !== labels.join("\n")) {
      if (holds(focused())) box.focus({ preventScroll: true })
      choices.replaceChildren(
        ...labels.map((label) => el("button", { type: "button", onclick: () => press(label) }, label)),
      )
    }
    nodes().forEach((node, at) => {
      const { why = "" } = content.buttons[at]
      node.disabled = Boolean(why)
      node.title = why
    })
  }
  const moveBox = () => {
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
    if (drawn !== before) moveBox()
  }
  const show = (/** @type {HTMLElement} */ at, /** @type {() => BoxWords} */ content) => {
    if (anchor === at) return hide()
    hide()
    anchor = at
    box.dataset.name = at.dataset.name ?? "" // it belongs to its part
    words = content
    fill()
    box.hidden = false
    at.setAttribute("aria-expanded", "true")
    moveBox()
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
