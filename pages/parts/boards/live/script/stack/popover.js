// A box at a part of the picture: what the part is, and what can be done with it. There is one at a time.

import { el } from "../../../shell/script/dom.js"

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
