// A panel of a figure that the page hands over: its texts, its tone, and the places in it that can be pointed at.

import { listen, placeBands, point, stepThrough } from "./pointing.js"
import { el, setText, termLink } from "../../shell/script/dom.js"
import { downloads } from "../../shell/script/downloads.js"
import { newPanel, put } from "../../shell/script/panel.js"

/** @import { Card, FiguresBoard, ToldPanel } from "./types.d.ts" */

/**
 * The panel of a figure, with a heading of that level.
 *
 * @param {FiguresBoard} board
 * @param {ToldPanel} told
 * @param {number} level
 * @returns {Card}
 */
export function newCard(board, { id, title }, level) {
  const kind = el("span", { class: "kind" })
  const chip = el("span", { class: "chip" })
  const legend = el("span", { class: "legend" })
  const lines = el("div", { class: "lines" })
  const words = el("p", { class: "words" })
  const panel = /** @type {Card} */ (newPanel({ id, kind: id.split(".")[0], title, tag: "h4", level }))
  const { root, heading, tools, body, plot } = panel
  heading.after(kind, chip)
  tools.before(legend)
  body.before(lines)
  body.after(words)
  panel.bands = [el("div", { class: "band", hidden: true }), el("div", { class: "band", hidden: true })]
  body.append(...panel.bands)
  plot.onkeydown = (event) => stepThrough(board, panel, event)
  plot.onblur = () => point(board, panel, null)
  tools.append(downloads(board, panel))
  let drawn = ""

  /** Take what the page says of the panel; the figure is drawn again only if it has changed. */
  panel.hear = (/** @type {ToldPanel} */ told) => {
    /** @type {Pick<ToldPanel, "title" | "link" | "slide">} */
    const { title, link = ["", ""], slide } = told
    Object.assign(panel, { title, link, slide, picks: Boolean(told.picks), drags: Boolean(told.drags) })
    setText(heading, told.title)
    setText(kind, told.kind)
    setText(chip, told.chip)
    chip.dataset.tone = told.chip_tone ?? ""
    if (told.facts) setParts(words, "span", told.facts)
    else setText(words, told.words)
    setParts(lines, "p", told.lines ?? [])
    legend.replaceChildren(...(told.legend ?? []).map(([word, tone]) => {
      const entry = el("span", {}, word)
      entry.style.setProperty("--tone", tone[board.theme.name])
      return entry
    }))
    if (told.tone) root.style.setProperty("--tone", told.tone[board.theme.name])
    if (told.term && !tools.querySelector(".term")) tools.prepend(termLink(told.term, told.title))
    root.classList.toggle("wide", Boolean(told.wide))
    tools.style.visibility = told.empty ? "hidden" : ""
    plot.tabIndex = told.empty ? -1 : 0
    root.setAttribute("aria-label", told.title)
    plot.setAttribute("aria-label", told.alt)
    plot.style.height = `${told.height}px`
    if (told.tall) plot.style.setProperty("--tall", `${told.tall}px`)
    const figure = JSON.stringify(told.figure)
    panel.dirty ||= figure !== drawn
    panel.figure = told.figure
    drawn = figure
  }
  panel.draw = () => {
    put(board, panel, panel.figure.data, panel.figure.layout)
    placeBands(panel, null)
    listen(board, panel)
  }
  return panel
}

/**
 * Set the texts of a node's children; without a difference nothing is changed.
 *
 * @param {HTMLElement} node
 * @param {"span" | "p"} tag
 * @param {string[]} texts
 */
function setParts(node, tag, texts) {
  if (node.textContent !== texts.join("")) node.replaceChildren(...texts.map((text) => el(tag, {}, text)))
}
