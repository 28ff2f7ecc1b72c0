// What the "?" of the picture opens: its words, and a small picture with the names of what it shows.

import { drawing, el } from "../../../shell/script/dom.js"

const NAMED = "Two grey bars; an arc from the first to the second; beside them a head and the bar of the answer"

/** The words of the box, a line for each thing that the picture shows. */
export function helpWords(/** @type {string} */ title, /** @type {string} */ help) {
  return { title, says: help.split(/(?<=\.) (?=\S)/), picture: miniature, buttons: [] }
}

/** The button that opens it. */
export const helpButton = (/** @type {string} */ words, /** @type {(node: HTMLElement) => void} */ open) => {
  const named = { title: words, "aria-label": words, "aria-expanded": false }
  const onclick = (/** @type {Event} */ { currentTarget }) => open(/** @type {HTMLElement} */ (currentTarget))
  return el("button", { type: "button", class: "term", ...named, onclick }, "?")
}

/** A small picture of one layer and two positions, drawn as in the large one. */
function miniature() {
  const path = (/** @type {string} */ d, /** @type {number} */ width) => drawing("path", { d, "stroke-width": width })
  const name = (/** @type {string} */ text, /** @type {number} */ x, /** @type {number} */ y) =>
    drawing("text", { x, y, "text-anchor": "middle" }, text)
  const box = (/** @type {string} */ kind, /** @type {number} */ x, /** @type {number[]} */ [y, width, height]) =>
    drawing("rect", { class: kind, x, y, width, height, rx: 2 })
  const cells = [0, 1, 2].map((at) => box("cell", 170 + 8 * at, [36 + 8 * at, 8, 8]))
  return drawing(
    "svg",
    { class: "mini", viewBox: "0 0 300 92", role: "img", "aria-label": NAMED },
    drawing("g", { class: "streams" }, path("M40 74V6", 3), path("M110 74V40", 3), path("M110 40V6", 6)),
    drawing("g", { class: "arcs" }, path("M40 68C40 40 110 68 110 40", 3)),
    box("tile", 170, [36, 24, 24]),
    ...cells,
    box("room", 226, [40, 48, 14]),
    box("full", 226, [40, 36, 14]),
    ...[name("grey bar", 40, 88), name("arc", 74, 48), name("head", 182, 74), name("answer", 250, 70)],
  )
}
