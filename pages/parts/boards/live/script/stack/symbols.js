// The sequence below the picture: what the model reads, what it must write, what it writes. Symbols are chosen, and
// change places.

import { columnAt } from "./layout.js"
import { rovingFocus } from "./roving.js"
import { ARROWS, el } from "../../../shell/script/dom.js"

/** @import { Layout } from "./layout.js" */
/** @import { Question } from "./looks.js" */
/** @import { At, Sample } from "../types.d.ts" */

/** @typedef {{kind: string, place: number, text: string, class: string, label?: string}} Cell of a row of symbols */
/** @typedef {{before: Sample | undefined, places: number[]}} Changed the sample before the change, and where its answers differ */

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
        for (const kind of ["source", "reads", "must", "writes"]) node.removeAttribute(`data-${kind}`)
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
