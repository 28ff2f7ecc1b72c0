// The bars at the right of the layers: how likely the right answer is after each, and how large its gradient is.

import { exactPercent } from "./words.js"
import { el, number } from "../../../shell/script/dom.js"

const DECADES = 4 // of gradient norms that a bar spans
const TELLING = 10 // how many times the smallest gradient the largest is where the bars of gradients are shown

/**
 * A bar of a share or a gradient.
 *
 * @typedef {{root: HTMLElement, full: HTMLElement, number: HTMLElement}} Meter
 */

/** A bar, and the room for its number. */
export function meter(/** @type {"right" | "gradient"} */ name) {
  const [full, number] = [el("span", { class: "full" }), el("span", { class: "number" })]
  return { root: el("div", { class: `meter ${name}`, role: "img" }, full, number), full, number }
}

/**
 * How likely the right answer is at a height of the stack.
 *
 * @param {Meter} meter
 * @param {number} share
 * @param {string} where
 */
export function fillShare({ root: bar, full, number }, share, where) {
  const known = Number.isFinite(share)
  full.style.width = `${known ? 100 * share : 0}%`
  number.textContent = known ? exactPercent(share) : ""
  bar.style.visibility = known ? "visible" : "hidden"
  bar.title = known
    ? `If the output read the stream ${where}, the right answer had ${exactPercent(share)}.`
    : `The right answer ${where}: not known`
  bar.setAttribute("aria-label", bar.title)
}

/**
 * The norms of a layer's gradient, the longer bar the larger one, on a logarithmic scale.
 *
 * @param {Meter} meter
 * @param {(number | null)[]} norms
 * @param {number} largest
 */
export function fillGradient({ root: bar, full }, norms, largest) {
  const known = norms.filter((norm) => norm != null)
  const most = Math.max(...known, 0)
  const share = most ? Math.max(0.02, 1 + Math.log10(most / largest) / DECADES) : 0
  full.style.width = `${100 * Math.min(1, Math.max(0, share))}%`
  bar.title = known.length
    ? `Gradient norm ${known.map((norm) => number(norm)).join(", encoder ")}`
    : "Gradient norm: not known yet"
  bar.setAttribute("aria-label", bar.title)
}

/**
 * Whether the gradients of the layers differ so much that their bars tell something.
 *
 * @param {(number | null)[][]} norms of each layer, in each stack
 */
export function gradientsDiffer(norms) {
  const known = norms.map((layer) => layer.filter((norm) => norm != null)).filter(({ length }) => length)
  const each = known.map((layer) => Math.max(...layer))
  return Math.max(...each) >= TELLING * Math.min(...each)
}
