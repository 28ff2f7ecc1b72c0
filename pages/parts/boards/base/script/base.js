// The base of every board. What is shown comes from the board's source, which each kind of board makes by its
// `sourceOf(board)`: {names, progress, interval, margin, begin, ready, hear, end}. These are the names of its states,
// whether its status line has a bar, the milliseconds between rounds of drawing, how far from the window panels are
// drawn, and what to do at the start of each round, when Plotly is there, with each message of the page, and when the
// board leaves the page.

import { el, loadPlotly, readTheme, setText } from "./dom.js"

/** @import { Board, Component, Data, Foreign, Host, Panel, Plot, Source, Send, StatusText } from "./types.d.ts" */

/**
 * A board: the page's `data`, the `theme`, `plotly` once it is there, the `statusLine`, the `painter`, and a place for
 * panels.
 *
 * `subject` is whatever zoom and legend choices belong to; `setState` and `trigger` tell the page something.
 *
 * @param {(board: Foreign) => Source} sourceOf
 * @param {Host} host
 * @param {HTMLElement} canvas
 * @param {string} address of Plotly
 */
function newBoard(sourceOf, host, canvas, address) {
  /** @type {Board} */
  const board = /** @type {Foreign} */ ({ host, canvas, data: {}, subject: "", plotly: null, theme: readTheme(host) })
  const source = sourceOf(board)
  board.statusLine = newStatusLine(source.names, source.progress)
  board.painter = newPainter(board, source)
  canvas.prepend(board.statusLine.root)

  /** Take a message of the page: called on each rerun. */
  const hear = (/** @type {Data} */ data, /** @type {Send} */ setState, /** @type {Send} */ trigger) => {
    const before = { data: board.data, theme: board.theme }
    Object.assign(board, { data, setState, trigger, theme: readTheme(host) })
    canvas.style.colorScheme = board.theme.name
    canvas.classList.toggle("room", board.theme.room)
    source.hear(before)
  }
  // As wide as a letter of the page: it tells when these change, as at the end of a presentation.
  const ruler = el("span", { class: "ruler", "aria-hidden": "true" })
  canvas.append(ruler)
  const watcher = new ResizeObserver(() => {
    if (board.setState && readTheme(host).larger !== board.theme.larger) hear(board.data, board.setState, board.trigger)
  })
  watcher.observe(ruler)
  const end = () => {
    watcher.disconnect()
    source.end()
    board.painter.end()
  }
  loadPlotly(address).then(
    (plotly) => {
      board.plotly = plotly
      source.ready(plotly)
      board.painter.touchAll()
    },
    () => board.statusLine.fail("The chart library could not be loaded. Reload the page."),
  )
  return { host, hear, end }
}

/** @type {WeakMap<HTMLElement, ReturnType<typeof newBoard>>} */
const boards = new WeakMap()

/**
 * The function that shows a component's data on the board of its element, a new one at first; it returns what to do
 * when the element goes. `sourceOf` makes the source of a board.
 *
 * @param {(board: Foreign) => Source} sourceOf each kind of board adds to its board what it needs
 * @returns {(component: Component) => () => void}
 */
export const drawingWith = (sourceOf) => ({ data: [data], parentElement, setStateValue, setTriggerValue }) => {
  let board = boards.get(parentElement)
  if (!board) {
    const canvas = /** @type {HTMLElement} */ (parentElement.querySelector(".board"))
    board = newBoard(sourceOf, parentElement.host ?? parentElement, canvas, data.plotly)
    boards.set(parentElement, board)
  }
  board.hear(data, setStateValue, setTriggerValue)
  // Streamlit also calls this when newer data replace these; the board is then still in the page and must stay.
  return () =>
    setTimeout(() => {
      if (board.host.isConnected || boards.get(parentElement) !== board) return
      board.end()
      boards.delete(parentElement)
    })
}

const STINT = 40 // milliseconds of drawing before the browser may paint

/**
 * Draws panels within `margin` of the window, in rounds at least `interval` milliseconds apart; `begin` is called before
 * the first panel that is drawn after a change.
 *
 * @param {Board} board
 * @param {Pick<Source, "interval" | "margin" | "begin">} source
 */
export function newPainter(board, { interval, margin, begin }) {
  /** @type {Set<Panel>} */
  const panels = new Set()
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let pending
  let changed = true
  let begunAt = -Infinity

  const soon = (/** @type {number} */ wait, /** @type {() => void} */ then) => {
    pending ??= setTimeout(() => requestAnimationFrame(then), wait)
  }
  const stop = () => {
    clearTimeout(pending)
    pending = undefined
  }
  /**
   * One round: the panel that was drawn longest ago first; what does not fit into the stint follows after the browser
   * has painted.
   */
  const round = (stint = STINT) => {
    begunAt = performance.now()
    changed = true
    goOn(stint)
  }
  const goOn = (stint = STINT) => {
    stop()
    if (changed) { // also while panels of the round before wait: no other round may follow
      changed = false
      begin()
    }
    const began = performance.now()
    // A panel without a plot does not wait for the chart library.
    const drawable = [...panels].filter(({ dirty, near, plotted }) => dirty && near && (board.plotly || !plotted))
    const due = drawable.sort((a, b) => a.drawnAt - b.drawnAt)
    for (const panel of due) {
      if (panel !== due[0] && performance.now() - began > stint) return soon(0, () => goOn())
      panel.dirty = false
      panel.drawnAt = began
      panel.draw()
    }
  }

  // The page scrolls inside an element of its own, to which only scrollMargin applies.
  const near = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      const panel = [...panels].find(({ root }) => root === target)
      if (panel) panel.near = isIntersecting
    }
    if ([...panels].some((panel) => panel.dirty && panel.near)) touch()
  }, { rootMargin: margin, scrollMargin: margin })
  const sized = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const plot = /** @type {Plot} */ (target)
      if (plot.data && plot.offsetWidth) board.plotly.Plots.resize(plot)
    }
  })

  /** Draw these panels, and all others that wait, in the next round. */
  const touch = (/** @type {Panel[]} */ ...dirty) => {
    dirty.forEach((panel) => (panel.dirty = true))
    changed = true
    soon(Math.max(0, begunAt + interval - performance.now()), () => round())
  }
  const touchAll = () => touch(...panels)
  /** The next panel at once, before the browser paints anything else; the others follow. */
  const now = () => {
    stop()
    round(0)
  }
  /** The first panel in the next frame, whatever the interval; the others follow as if none had been drawn before. */
  const hurry = () => {
    stop()
    soon(0, () => round(0))
    panels.forEach((panel) => (panel.drawnAt = 0))
  }

  const add = (/** @type {Panel} */ panel) => {
    panels.add(panel)
    near.observe(panel.root)
    sized.observe(panel.plot)
  }
  const remove = (/** @type {Panel} */ panel) => {
    panels.delete(panel)
    near.unobserve(panel.root)
    sized.unobserve(panel.plot)
    if (panel.plot.data) board.plotly.purge(panel.plot)
  }
  const end = () => {
    stop()
    panels.forEach(remove)
  }
  return { touch, touchAll, now, hurry, add, remove, end }
}

/**
 * A status line whose states have these names; a state named "" hides the line, whose place is then free.
 *
 * `draw` takes the state, words about it, the share that is done (null hides the bar), the reason of a failure, and
 * what a screen reader hears after the state's name. Without `progress` there is no bar.
 *
 * @param {Record<string, string>} names
 * @param {boolean} [progress]
 */
export function newStatusLine(names, progress = true) {
  const badge = el("strong", { class: "badge", role: "status" })
  const facts = el("span", { class: "facts" })
  const bar = el("progress", { max: 1, value: 0, "aria-label": "Progress" })
  const problem = el("p", { class: "problem", role: "alert", hidden: true })
  const line = el("div", { class: "status" }, el("div", { class: "line" }, badge, facts), ...(progress ? [bar] : []))
  const root = el("div", {}, line, problem)

  let failure = ""

  /** Say from now on that the board itself has failed. */
  const fail = (/** @type {string} */ sentence) => setText(problem, failure = sentence)
  const draw = (/** @type {StatusText} */ { state, words, share, reason, spoken = "" }) => {
    const name = names[state] ?? state
    line.hidden = !name
    if (badge.dataset.state !== state) {
      badge.dataset.state = state
      badge.replaceChildren(name, el("span", { class: "spoken" }, spoken))
    }
    if (facts.textContent !== words) facts.replaceChildren(...pieces(words))
    bar.value = share ?? 0
    bar.style.visibility = share == null ? "hidden" : "visible"
    setText(problem, failure || reason)
  }
  return { root, draw, fail }
}

/** The parts of a sentence between its dots, of which the last ones go where the line has no room for all. */
const pieces = (/** @type {string} */ words) => words.split(/(?= · )/).map((piece) => el("span", {}, piece))
