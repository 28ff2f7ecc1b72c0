// The shell of every board. What is shown comes from the board's source, which each kind of board makes by its
// `sourceOf(board)`: {names, progress, beat, margin, begin, ready, hear, end}. These are the names of its states,
// whether its status line has a bar, the milliseconds between rounds of drawing, how far from the window panels are
// drawn, and what to do at the start of each round, when Plotly is there, with each message of the page, and when the
// board leaves the page.

import { el, loadPlotly, readTheme } from "./dom.js"
import { newPainter } from "./painter.js"
import { newStatusLine } from "./status.js"

/** @import { Board, Component, Data, Foreign, Host, Source, Tell } from "./types.d.ts" */

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
  const hear = (/** @type {Data} */ data, /** @type {Tell} */ setState, /** @type {Tell} */ trigger) => {
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
