// A panel of a run, the switch that some of them have, and the words beside the pointer.

import { el, setText, termLink } from "../../shell/script/dom.js"
import { newPanel } from "../../shell/script/panel.js"

/** @import { LiveBoard, LivePanel, News } from "./types.d.ts" */

/**
 * A panel with its glossary term. `concerns` tells whether a message of the run changes what it shows; `ofModel`: whether it
 * shows the model at one step, as the picture of the model does; `sayWhose` says then whose it is, where that is
 * something else.
 *
 * @param {LiveBoard} board
 * @param {string} name
 * @param {{plotted?: boolean, waiting?: string, ofModel?: boolean}} [how]
 * @returns {LivePanel}
 */
export function runPanel(
  board,
  name,
  { plotted = true, waiting = "waiting for the first look at the model", ofModel = false } = {},
) {
  const [title] = board.data.titled[name]
  const panel = newPanel({ id: name, kind: name, title, tag: "h3", level: board.data.level, waiting, plotted })
  const whose = el("p", { class: "whose", hidden: true })
  panel.body.before(whose)
  const sayWhose = (/** @type {string} */ words) => setText(whose, ofModel ? words : "")
  /** Give the panel the title of that name. */
  const call = (/** @type {string} */ shown) => {
    if (panel.heading.dataset.shown === shown) return
    panel.heading.dataset.shown = shown
    const [title, term] = board.data.titled[shown]
    panel.title = title
    panel.root.setAttribute("aria-label", title)
    panel.heading.replaceChildren(`${title} `, termLink(term, title))
  }
  call(name)
  const concerns = (/** @type {News} */ news) => Boolean(news.snapshots?.length)
  return Object.assign(panel, { waiting, concerns, sayWhose, call })
}

/**
 * Buttons of which exactly one is pressed.
 *
 * @template {string} Name
 * @param {string} label
 * @param {Record<string, string>} options
 * @param {Name} chosen
 * @param {(name: Name) => void} onChoose
 */
export function choice(label, options, chosen, onChoose) {
  const group = el("div", { class: "choice", role: "group", "aria-label": label })
  const buttons = /** @type {[Name, string][]} */ (Object.entries(options)).map(([name, text]) => {
    const onclick = () => {
      press(name)
      onChoose(name)
    }
    return { name, button: el("button", { type: "button", "data-name": name, onclick }, text) }
  })
  const press = (/** @type {Name} */ pressed) =>
    buttons.forEach(({ name, button }) => button.setAttribute("aria-pressed", `${name === pressed}`))
  group.append(...buttons.map(({ button }) => button))
  press(chosen)
  return group
}

/**
 * Words beside the pointer within an element, hidden as long as there are none.
 *
 * @param {HTMLElement} within
 * @returns {LiveBoard["tip"]}
 */
export function newTip(within) {
  const tip = el("div", { class: "tip", hidden: true })
  within.append(tip)
  return (text, event) => {
    setText(tip, text)
    if (!text || !event) return
    const box = within.getBoundingClientRect()
    const left = Math.min(event.clientX - box.left + 14, box.width - tip.offsetWidth - 4)
    tip.style.transform = `translate(${Math.max(0, left)}px, ${event.clientY - box.top + 16}px)`
  }
}
