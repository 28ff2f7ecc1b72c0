// The source of figures that the page hands over: all of them with each rerun, as sections of panels by their ids.

import { ARROWS, el, holdOnly, number, setText, termLink } from "../../base/script/dom.js"
import { downloads } from "../../base/script/downloads.js"
import { newPanel, put } from "../../base/script/figure.js"
import { drawingWith } from "../../base/script/base.js"

/** @import { Card, FiguresBoard, FiguresData, FigurePoint, PanelData, SectionData } from "./types.d.ts" */
/** @import { Before, Foreign, Source } from "../../base/script/types.d.ts" */

const STATES = {
  none: "",
  waiting: "Not run yet",
  running: "Running",
  finished: "Finished",
  stopped: "Stopped",
  failed: "Failed",
  kept: "Stored on this server",
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
        show(section, section.panels.map((given) => panelOf(given, section.title ? level + 1 : level)))
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
  const panelOf = (/** @type {PanelData} */ given, /** @type {number} */ level) => {
    let panel = board.panels.get(given.id)
    if (!panel) {
      panel = newCard(board, given, level)
      board.panels.set(given.id, panel)
      board.painter.add(panel)
    }
    panel.hear(given)
    return panel
  }
  const remove = (/** @type {Card} */ panel) => {
    board.painter.remove(panel)
    board.panels.delete(panel.id)
  }
  return { names: STATES, interval: 0, margin: "300px", begin: () => {}, ready: () => {}, hear, end: () => {} }
}

export const draw = drawingWith(sourceOf)

/**
 * The panel of a figure, with a heading of that level.
 *
 * @param {FiguresBoard} board
 * @param {PanelData} given
 * @param {number} level
 * @returns {Card}
 */
function newCard(board, { id, title }, level) {
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
  panel.highlights = [el("div", { class: "highlight", hidden: true }), el("div", { class: "highlight", hidden: true })]
  body.append(...panel.highlights)
  plot.onkeydown = (event) => stepThrough(board, panel, event)
  plot.onblur = () => point(board, panel, null)
  tools.append(downloads(board, panel))
  const views = el("button", { type: "button", class: "views", role: "switch", hidden: true })
  tools.before(views)
  views.onclick = ({ target, detail }) => {
    // With a pointer, the view that is pressed is the one to show.
    const pressed = detail ? [...views.children].indexOf(/** @type {Element} */ (target)) : -1
    panel.view = pressed < 0 ? 1 - panel.view : pressed
    show()
    board.painter.now()
  }
  let [drawn, of] = ["", ""]
  /** @type {PanelData} */
  let heard

  /** Take what the page says of the panel, of another subject in its first view. */
  panel.hear = (/** @type {PanelData} */ given) => {
    heard = given
    const labels = given.views?.map(({ label }) => label) ?? []
    const wanted = `${given.views_of} ${labels}`
    if (wanted !== of) {
      of = wanted
      panel.view = 0
      views.replaceChildren(...labels.map((label) => el("span", {}, label)))
      views.hidden = !labels.length
    }
    show()
  }
  /** Show the chosen view; the figure is drawn again only if it has changed. */
  const show = () => {
    const given = { ...heard, ...heard.views?.[panel.view] }
    views.setAttribute("aria-checked", `${panel.view === 1}`)
    /** @type {Pick<PanelData, "title" | "link" | "slide">} */
    const { title, link = ["", ""], slide } = given
    Object.assign(panel, { title, link, slide, picks: Boolean(given.picks), drags: Boolean(given.drags) })
    setText(heading, given.title)
    setText(kind, given.kind)
    setText(chip, given.chip)
    chip.dataset.tone = given.chip_tone ?? ""
    if (given.facts) setParts(words, "span", given.facts)
    else setText(words, given.words)
    setParts(lines, "p", given.lines ?? [])
    legend.replaceChildren(...(given.legend ?? []).map(([word, tone]) => {
      const entry = el("span", {}, word)
      entry.style.setProperty("--tone", tone[board.theme.name])
      return entry
    }))
    if (given.tone) root.style.setProperty("--tone", given.tone[board.theme.name])
    if (given.term && !tools.querySelector(".term")) tools.prepend(termLink(given.term, given.title))
    root.classList.toggle("wide", Boolean(given.wide))
    tools.style.visibility = given.empty ? "hidden" : ""
    plot.tabIndex = given.empty ? -1 : 0
    root.setAttribute("aria-label", given.title)
    plot.setAttribute("aria-label", given.alt)
    plot.style.height = `${given.height}px`
    if (given.tall) plot.style.setProperty("--tall", `${given.tall}px`)
    const figure = JSON.stringify(given.figure)
    panel.dirty ||= figure !== drawn
    panel.figure = given.figure
    drawn = figure
  }
  panel.draw = () => {
    put(board, panel, panel.figure.data, panel.figure.layout, panel.view ? `${board.subject} ${panel.view}` : undefined)
    moveHighlights(panel, null)
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

/**
 * Highlight a point in a panel, and in every other panel the parts it shares with it; null clears. From the keyboard,
 * announce it too.
 *
 * @param {FiguresBoard} board
 * @param {Card} panel
 * @param {FigurePoint | null} at
 */
function point(board, panel, at, aloud = false) {
  /** @type {Record<string, number | string | undefined>} */
  const pointed = at ? { [panel.link[1]]: at.y, [panel.link[0]]: at.x, "": undefined } : {}
  for (const other of board.panels.values()) {
    const [x, y] = other.link.map((name) => pointed[name])
    moveHighlights(other, other === panel ? at : { x, y })
  }
  if (aloud && at) board.spoken.textContent = pointInWords(panel, at)
}

/**
 * Tell the page of a point that was clicked or entered.
 *
 * @param {FiguresBoard} board
 * @param {Card} panel
 * @param {FigurePoint} at
 */
function pick(board, panel, { x, y }) {
  if (panel.picks) board.trigger("picked", { panel: panel.id, x, y })
}

/** React to the pointer over a plot that has its first figure. */
function listen(/** @type {FiguresBoard} */ board, /** @type {Card} */ panel) {
  if (panel.listening) return
  panel.listening = true
  const pointOf = (/** @type {Foreign} */ { points: [{ x, y, z, text }] }) => /** @type {FigurePoint} */ ({
    x,
    y,
    z,
    text,
  })
  panel.plot.on?.("plotly_hover", (event) => point(board, panel, pointOf(event)))
  panel.plot.on?.("plotly_unhover", () => point(board, panel, null))
  panel.plot.on?.("plotly_click", (event) => pick(board, panel, pointOf(event)))
  panel.plot.on?.("plotly_relayout", (change) => {
    const mark = Object.keys(change).find((name) => /^shapes\[\d+\]\.xanchor$/.test(name)) // a mark that was dragged
    if (mark) pick(board, panel, { x: change[mark], y: "mark" })
  })
}

/**
 * Highlight the row and the column of a point in an overlay, as far as they are known, without redrawing the figure.
 */
function moveHighlights(/** @type {Card} */ panel, /** @type {FigurePoint | null} */ at) {
  const heat = panel.drawn?.traces.find(({ type }) => type === "heatmap")
  const axes = panel.plot._fullLayout
  const [row, column] = panel.highlights
  row.hidden = !axes || !heat || at?.y == null
  column.hidden = !axes || !(heat || panel.link[0]) || at?.x == null
  if (!at || (row.hidden && column.hidden)) return
  const { xaxis, yaxis, _size: whole } = axes // Several strips of bars are one figure.
  const [above, high] = heat ? [yaxis._offset, yaxis._length] : [whole.t, whole.h]
  /** Where a cell begins along an axis, and its length, in pixels; its value is a number, or a name in its order. */
  const span = (/** @type {Foreign} */ axis, /** @type {Foreign} */ value, step = 1) => {
    const ends = [-step / 2, step / 2].map((half) =>
      axis._offset + Math.min(Math.max(axis.l2p(value + half), 0), axis._length)
    )
    return [Math.min(...ends), Math.abs(ends[1] - ends[0])]
  }
  const cover = (
    /** @type {HTMLElement} */ highlight,
    /** @type {number[]} */ [left, width],
    /** @type {number[]} */ [top, height],
  ) => {
    highlight.hidden ||= !width || !height // The point is outside the visible range.
    Object.assign(highlight.style, { left: `${left}px`, width: `${width}px`, top: `${top}px`, height: `${height}px` })
  }
  if (!row.hidden) cover(row, [xaxis._offset, xaxis._length], span(yaxis, at.y, heat.dy))
  if (!column.hidden) cover(column, span(xaxis, at.x, heat?.dx), [above, high])
}

/**
 * Arrow keys move over a heatmap's cells or a line's points, Enter picks.
 *
 * @param {FiguresBoard} board
 * @param {Card} panel
 * @param {KeyboardEvent} event
 */
function stepThrough(board, panel, event) {
  const trace = panel.drawn?.traces[0]
  if (!trace || !panel.plot._fullData) return
  if (event.key === "Enter" && panel.at) return pick(board, panel, panel.at)
  if (event.key === "Escape") {
    board.plotly.Fx.unhover(panel.plot)
    return point(board, panel, null)
  }
  const step = ARROWS[event.key]
  if (!step) return
  event.preventDefault()
  const points = panel.plot._fullData[0]
  const heat = trace.type === "heatmap"
  const [rows, columns] = heat ? [points.z.length, points.z[0].length] : [1, points.x?.length ?? points.y.length]
  const turned = heat && panel.plot._fullLayout.yaxis.range[0] < panel.plot._fullLayout.yaxis.range[1] ? -1 : 1
  const [row, column] = panel.index ?? [0, -1]
  panel.index = [within(row + turned * step[1], rows), within(column + step[0], columns)]
  const [i, j] = panel.index
  const along = (/** @type {"x" | "y"} */ axis, /** @type {number} */ index) =>
    trace[axis]?.length ? trace[axis][index] : (trace[`${axis}0`] ?? 0) + index * (trace[`d${axis}`] ?? 1)
  panel.at = heat
    ? { x: along("x", j), y: along("y", i), z: points.z[i][j], text: points.text?.[i]?.[j] }
    : { x: points.x[j], y: points.y[j] }
  board.plotly.Fx.hover(panel.plot, [{ curveNumber: 0, pointNumber: heat ? [i, j] : j }])
  point(board, panel, panel.at, true)
}

const within = (/** @type {number} */ value, /** @type {number} */ count) => Math.min(Math.max(value, 0), count - 1)

/** A point and its value in words. */
function pointInWords(/** @type {Card} */ { figure, title }, /** @type {FigurePoint} */ at) {
  const name = (/** @type {string} */ axis, /** @type {string} */ fallback) =>
    figure.layout[axis]?.title?.text?.replaceAll("<br>", " ") ?? fallback
  const inWords = (
    /** @type {number | string | undefined} */ value,
  ) => (typeof value === "number" ? number(value) : value)
  const where = `${at.text ?? `${name("xaxis", "x")} ${inWords(at.x)}`}, ${name("yaxis", "y")} ${inWords(at.y)}`
  return `${title}: ${where}${at.z == null || !Number.isFinite(at.z) ? "" : `: ${number(at.z)}`}`
}

/** A section, with a heading of that level. */
function newSection(/** @type {SectionData} */ { id, title }, /** @type {number} */ level) {
  const heading = el("h3", { "aria-level": level })
  const note = el("p", { class: "note" })
  const grid = el("div", { class: "panels" })
  const root = el("section", { class: "section", "data-id": id, "aria-label": title || id }, heading, note, grid)

  /** Show what the page says of the section, around these panels. */
  const show = (/** @type {SectionData} */ section, /** @type {Card[]} */ panels) => {
    setText(heading, section.title)
    setText(note, section.note)
    grid.style.setProperty("--least", `${section.width}px`)
    holdOnly(grid, panels.map((panel) => panel.root))
  }
  return { root, show }
}
