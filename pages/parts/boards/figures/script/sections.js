// Sections of panels: a heading, a note, a grid of panels, and a table of their numbers.

import { el, holdOnly, setText } from "../../shell/script/dom.js"

/** @import { Card, Table, ToldSection } from "./types.d.ts" */

/** A section, with a heading of that level. */
export function newSection(/** @type {ToldSection} */ { id, title }, /** @type {number} */ level) {
  const heading = el("h3", { "aria-level": level })
  const note = el("p", { class: "note" })
  const grid = el("div", { class: "panels" })
  const table = el("div", { class: "numbers" })
  const root = el("section", { class: "section", "data-id": id, "aria-label": title || id }, heading, note, grid, table)
  let shown = ""

  /** Show what the page says of the section, around these panels. */
  const show = (/** @type {ToldSection} */ section, /** @type {Card[]} */ panels) => {
    setText(heading, section.title)
    setText(note, section.note)
    grid.style.setProperty("--least", `${section.width}px`)
    holdOnly(grid, panels.map((panel) => panel.root))
    const now = JSON.stringify(section.table)
    if (now === shown || !section.table) return
    shown = now
    const open = table.querySelector("details")?.open ?? false
    table.replaceChildren(tableOf(section.table, open))
  }
  return { root, show }
}

/** A table that can be opened. */
function tableOf(/** @type {Table} */ { summary, head, rows }, /** @type {boolean} */ open) {
  const line = (/** @type {string[]} */ cells, /** @type {"th" | "td"} */ kind) =>
    el("tr", {}, ...cells.map((cell, at) => el(at ? kind : "th", at ? {} : { scope: "row" }, cell)))
  const body = el(
    "table",
    {},
    el("thead", {}, line(head, "th")),
    el("tbody", {}, ...rows.map((row) => line(row, "td"))),
  )
  return el(
    "details",
    { open },
    el("summary", {}, summary),
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": summary }, body),
  )
}
