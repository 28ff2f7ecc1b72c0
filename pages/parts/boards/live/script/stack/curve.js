// The loss as a small curve beside the output.

import { drawing, el, number } from "../../../shell/script/dom.js"

/** The loss on held-out sequences, from 0 to its highest value, with its last value. */
export function lossCurve() {
  const path = drawing("path", {})
  const value = el("span", {})
  const root = el(
    "div",
    { class: "curve", role: "img" },
    drawing("svg", { viewBox: "0 0 100 100", preserveAspectRatio: "none" }, path),
    value,
  )
  const draw = (/** @type {number[]} */ steps, /** @type {number[]} */ losses, /** @type {number} */ all) => {
    const points = losses.map((loss, at) => [steps[at], loss]).filter(([, loss]) => Number.isFinite(loss))
    const highest = Math.max(...points.map(([, loss]) => loss), 1e-9)
    const last = points[points.length - 1]
    path.setAttribute(
      "d",
      points
        .map(([step, loss], at) => `${at ? "L" : "M"}${(100 * step) / Math.max(1, all)} ${100 - (94 * loss) / highest}`)
        .join(" "),
    )
    value.textContent = last ? number(last[1]) : ""
    root.title = last ? `loss ${number(last[1])} at step ${last[0]}` : "loss: not known yet"
    root.setAttribute("aria-label", root.title)
  }
  draw([], [], 1)
  return { root, draw }
}
