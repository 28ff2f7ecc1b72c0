// A box at a part of the picture: what the part is, and what can be done with it. There is one at a time.

import { el } from "../../../shell/script/dom.js"

/**
 * The box; it stays within `root`, of which it is a child.
 *
 * @param {HTMLElement} root
 * @returns {{show: Function, hide: () => void, isOpen: () => boolean}}
 */
export function partBox(root) {
  const box = el("div", { class: "part-box", role: "dialog", tabindex: -1, hidden: true })
  let anchor = null
  root.append(box)
  box.onfocusout = ({ relatedTarget }) => document.hasFocus() && !box.contains(relatedTarget) && hide()

  const hide = () => {
    if (box.hidden) return
    const inside = box.contains(box.getRootNode().activeElement)
    box.hidden = true
    anchor?.setAttribute("aria-expanded", false)
    if (inside) anchor?.focus()
    anchor = null
  }
  /**
   * Show what can be done with a part beside its element; a second call for the same element closes the box.
   *
   * @param {HTMLElement} at
   * @param {{title: string, says: string, notes?: string[], buttons: {label: string, act: () => void, why?: string}[]}} told `why`: the
   *   reason why a button cannot be pressed
   */
  const show = (at, { title, says, notes = [], buttons }) => {
    if (anchor === at) return hide()
    hide()
    anchor = at
    const button = ({ label, act, why = "" }) =>
      el("button", { type: "button", disabled: Boolean(why), title: why || false, onclick: () => (hide(), act()) }, label)
    const reasons = [...new Set(buttons.map(({ why }) => why).filter(Boolean))]
    box.replaceChildren(
      el("strong", {}, title), el("p", {}, says), ...[...notes, ...reasons].filter(Boolean).map((note) => el("p", { class: "note" }, note)),
      el("div", { class: "choices" }, ...buttons.map(button), el("button", { type: "button", class: "close", "aria-label": "Close", onclick: hide }, "×")),
    )
    box.setAttribute("aria-label", title)
    box.hidden = false
    at.setAttribute("aria-expanded", true)
    const [outer, part] = [root.getBoundingClientRect(), at.getBoundingClientRect()]
    const left = Math.max(0, Math.min(part.left - outer.left, outer.width - box.offsetWidth))
    const [below, above] = [part.bottom - outer.top + 4, part.top - outer.top - box.offsetHeight - 4]
    const top = below + box.offsetHeight <= outer.height || above < 0 ? below : above
    Object.assign(box.style, { left: `${left}px`, top: `${Math.max(0, Math.min(top, Math.max(0, outer.height - box.offsetHeight)))}px` })
    box.querySelector("button:not(:disabled)")?.focus({ preventScroll: true })
  }
  root.addEventListener("keydown", (event) => event.key === "Escape" && hide())
  root.addEventListener("pointerdown", ({ target }) => !box.contains(target) && !anchor?.contains(target) && hide())
  return { show, hide, isOpen: () => !box.hidden }
}
