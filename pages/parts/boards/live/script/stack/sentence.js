// The line above the picture: the result, a sentence, and what can be done about it. Words that name a part of the model
// are buttons; they light what has the same name in the picture, and are lit with it.

import { rovingFocus } from "./roving.js"
import { el } from "../../../shell/script/dom.js"

/** @import { Sentence, Words } from "../types.d.ts" */
/**
 * What the line says, the numbers behind it, the issue that it links, and what can be done about it.
 *
 * @typedef {{words: Words[], details?: string, issue: Sentence["issue"], act?: {label: string, does: () => void} | null}} Said
 */

/** Words that name no part. */
export const plain = (/** @type {string} */ text) => ({ text, part: "" })

/**
 * The line. `onPart` is called with the name of a part that was pressed, `inWords` says which it is. A piece keeps its
 * element, and so the focus, as long as it is of the same kind.
 *
 * @param {(name: string) => void} onPart
 * @param {(name: string) => string} inWords
 */
export function sentenceLine(onPart, inWords) {
  const [score, words] = [el("span", { class: "score" }), el("span", { class: "words" })]
  const link = el("a", { target: "_blank", rel: "noopener", hidden: true })
  const button = el("button", { type: "button", class: "take", hidden: true })
  const root = el("p", { class: "attends" }, score, " ", words, " ", link, " ", button)
  const focus = rovingFocus(words, ".named")
  const piece = (/** @type {Words} */ { part }, /** @type {Element | undefined} */ there) => {
    const tag = part ? "BUTTON" : "SPAN"
    if (there?.tagName === tag) return /** @type {HTMLElement} */ (there)
    const made = part
      ? el("button", { type: "button", class: "named", tabindex: -1, onclick: () => onPart(made.dataset.name ?? "") })
      : el("span")
    return made
  }
  const say = (/** @type {string} */ result, /** @type {Said} */ { words: said, details = "", issue, act }) => {
    if (score.textContent !== result) score.textContent = result
    words.title = details
    while (words.children.length > said.length) words.lastElementChild?.remove()
    said.forEach((one, at) => {
      const there = words.children[at]
      const node = piece(one, there)
      if (node.textContent !== one.text) node.textContent = one.text
      if (one.part && node.dataset.name !== one.part) {
        node.dataset.name = one.part
        node.ariaLabel = inWords(one.part)
      }
      if (!there) words.append(node)
      else if (node !== there) there.replaceWith(node)
    })
    focus.refresh()
    link.hidden = !issue
    if (issue) Object.assign(link, { href: issue.href, textContent: issue.title })
    button.hidden = !act
    if (act) Object.assign(button, { textContent: act.label, onclick: act.does })
  }
  return { root, say, text: () => root.textContent }
}

/** Lights all that has the name of what is under the pointer, has the focus or was touched: parts, words and arcs. */
export function lightNames(/** @type {HTMLElement} */ root) {
  const light = (/** @type {EventTarget | null} */ target) => {
    const named = target instanceof Element ? /** @type {HTMLElement | null} */ (target.closest("[data-name]")) : null
    for (const node of root.querySelectorAll("[data-name]")) {
      const { name } = /** @type {HTMLElement} */ (node).dataset
      node.classList.toggle("lit", Boolean(name) && name === named?.dataset.name)
    }
  }
  root.addEventListener("pointerover", ({ target }) => light(target))
  root.addEventListener("focusin", ({ target }) => light(target))
  root.addEventListener("focusout", () => light(null))
  root.addEventListener("pointerleave", ({ pointerType }) => pointerType === "mouse" && light(null))
}
