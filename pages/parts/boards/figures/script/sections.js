// Sections of panels: a heading, a note, and a grid of panels.

import { el, holdOnly, setText } from "../../shell/script/dom.js"

/** @import { Card, ToldSection } from "./types.d.ts" */

/** A section, with a heading of that level. */
export function newSection(/** @type {ToldSection} */ { id, title }, /** @type {number} */ level) {
  const heading = el("h3", { "aria-level": level })
  const note = el("p", { class: "note" })
  const grid = el("div", { class: "panels" })
  const root = el("section", { class: "section", "data-id": id, "aria-label": title || id }, heading, note, grid)

  /** Show what the page says of the section, around these panels. */
  const show = (/** @type {ToldSection} */ section, /** @type {Card[]} */ panels) => {
    setText(heading, section.title)
    setText(note, section.note)
    grid.style.setProperty("--least", `${section.width}px`)
    holdOnly(grid, panels.map((panel) => panel.root))
  }
  return { root, show }
}
