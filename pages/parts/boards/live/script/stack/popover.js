// A box at a part of the picture: what the part is, and what can be done with it. There is one at a time.

import { el } from "../../../shell/script/dom.js"

const APART = 5 // pixels between the box and its part

/** @typedef {{label: string, act: () => void, why?: string}} Choice `why`: the reason why it cannot be pressed */
/** @typedef {{title: string, says: string, notes?: string[], buttons: Choice[]}} BoxWords what a box says and offers */

/**
 * The box; it stays within `root`, of which it is a child.
 *
 * @param {HTMLElement} root
 * @returns {{show: (at: HTMLElement, told: BoxWords) => void, hide: () => void}}
 */
export function partBox(root) {
  const box = el("div", { class: "part-box", role: "dialog", tabindex: -1, hidden: true })
  /** @type {HTMLElement | null} */
  let anchor = null
  root.append(box)
  const holds = (/** @type {EventTarget | null} */ node) => box.contains(/** @type {Node | null} */ (node))
  box.addEventListener("focusout", ({ relatedTarget }) => {
    if (document.hasFocus() && relatedTarget !== anchor && !holds(relatedTarget)) hide()
  })

  const hide = () => {
    if (box.hidden) return
    const inside = box.contains(/** @type {Document | ShadowRoot} */ (box.getRootNode()).activeElement)
    box.hidden = true
    anchor?.setAttribute("aria-expanded", "false")
    if (inside) anchor?.focus()
    anchor = null
  }
  /**
   * Show what can be done with a part beside its element; a second call for the same element closes the box.
   *
   * @param {HTMLElement} at
   * @param {BoxWords} told
   */
  const show = (at, { title, says, notes = [], buttons }) => {
    if (anchor === at) return hide()
    hide()
    anchor = at
    const button = (/** @type {Choice} */ { label, act, why = "" }) =>
      el(
        "button",
        { type: "button", disabled: Boolean(why), title: why || false, onclick: () => (hide(), act()) },
        label,
      )
    const reasons = [...new Set(buttons.map(({ why = "" }) => why).filter(Boolean))]
    box.replaceChildren(
      el("strong", {}, title),
      el("p", {}, says),
      ...[...notes, ...reasons].filter(Boolean).map((note) => el("p", { class: "note" }, note)),
      el(
        "div",
        { class: "choices" },
        ...buttons.map(button),
        el("button", { type: "button", class: "close", "aria-label": "Close", onclick: hide }, "×"),
      ),
    )
    box.setAttribute("aria-label", title)
    box.hidden = false
    at.setAttribute("aria-expanded", "true")
    const outer = root.getBoundingClientRect()
    const part = at.getBoundingClientRect()
    const [left, top] = besidePart(
      { left: part.left - outer.left, top: part.top - outer.top, width: part.width, height: part.height },
      { width: box.offsetWidth, height: box.offsetHeight },
      outer,
    )
    Object.assign(box.style, { left: `${left}px`, top: `${top}px` })
    /** @type {HTMLButtonElement | null} */
    const first = box.querySelector("button:not(:disabled)")
    first?.focus({ preventScroll: true })
  }
  root.addEventListener("keydown", (event) => event.key === "Escape" && hide())
  root.addEventListener("pointerdown", ({ target }) => {
    if (!holds(target) && !anchor?.contains(/** @type {Node} */ (target))) hide()
  })
  return { show, hide }
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
