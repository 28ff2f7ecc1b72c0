// The source of figures that the page hands over: all of them with each rerun, as sections of panels by their ids.

import { newCard } from "./card.js"
import { newSection } from "./sections.js"
import { el, holdOnly } from "../../shell/script/dom.js"
import { drawingWith } from "../../shell/script/shell.js"

/** @import { Before, Source } from "../../shell/script/types.d.ts" */
/** @import { Card, FiguresBoard, FiguresData, ToldPanel } from "./types.d.ts" */

const STATES = {
  none: "",
  waiting: "Not run yet",
  running: "Running",
  finished: "Finished",
  stopped: "Stopped",
  failed: "Failed",
  kept: "Kept on this machine",
  class: "Seeds of this class",
  shipped: "Measured when this version was made",
}

/**
 * The source of a board of figures.
 *
 * @param {FiguresBoard} board
 * @returns {Source}
 */
function sourceOf(board) {
  const root = el("div", { class: "sections" })
  /** @type {Map<string, ReturnType<typeof newSection>>} */
  const sections = new Map()
  board.panels = new Map()
  board.spoken = el("span", { class: "spoken", role: "status" })
  board.canvas.append(root, board.spoken)

  const hear = (/** @type {Before} */ before) => {
    const earlier = /** @type {FiguresData} */ (before.data)
    const { status, subject, version } = board.data
    const share = status.state === "running" ? status.share : null
    board.statusLine.draw({ ...status, share, reason: status.problem })
    sayResult()
    const recolour = JSON.stringify(board.theme) !== JSON.stringify(before.theme)
    if (!recolour && earlier.subject === subject && earlier.version === version) return
    board.subject = subject
    const wanted = new Set(board.data.sections.flatMap((section) => section.panels.map(({ id }) => id)))
    for (const [id, panel] of board.panels) if (!wanted.has(id)) remove(panel)
    const { level } = board.data
    holdOnly(
      root,
      board.data.sections.map((section) => {
        const made = sections.get(section.id) ?? newSection(section, level)
        sections.set(section.id, made)
        const { root, show } = made
        show(section, section.panels.map((told) => panelOf(told, section.title ? level + 1 : level)))
        return root
      }),
    )
    for (const panel of board.panels.values()) panel.dirty ||= recolour
    // The first figure is drawn before the others, and before Streamlit updates the rest of the page.
    board.painter.now()
  }
  /** A screen reader hears a result once, and finds none of another figure. */
  const sayResult = () => {
    const result = board.data.sections.flatMap(({ panels }) => panels.map(({ result }) => result ?? "")).join("")
    if (result !== board.result) board.spoken.textContent = result
    board.result = result
  }
  const panelOf = (/** @type {ToldPanel} */ told, /** @type {number} */ level) => {
    let panel = board.panels.get(told.id)
    if (!panel) {
      panel = newCard(board, told, level)
      board.panels.set(told.id, panel)
      board.painter.add(panel)
    }
    panel.hear(told)
    return panel
  }
  const remove = (/** @type {Card} */ panel) => {
    board.painter.remove(panel)
    board.panels.delete(panel.id)
  }
  return { names: STATES, beat: 0, margin: "300px", begin: () => {}, ready: () => {}, hear, end: () => {} }
}

export const draw = drawingWith(sourceOf)
