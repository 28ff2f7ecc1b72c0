// When panels are drawn: those that changed and are near the window, so that the browser can paint in between.

/** @import { Board, Panel, Plot, Source } from "./types.d.ts" */

const STINT = 40 // milliseconds of drawing before the browser may paint

/**
 * Draws panels within `margin` of the window, in rounds at least `beat` milliseconds apart; `begin` is called before
 * the first panel that is drawn after a change.
 *
 * @param {Board} board
 * @param {Pick<Source, "beat" | "margin" | "begin">} source
 */
export function newPainter(board, { beat, margin, begin }) {
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
    soon(Math.max(0, begunAt + beat - performance.now()), () => round())
  }
  const touchAll = () => touch(...panels)
  /** The next panel at once, before the browser paints anything else; the others follow. */
  const now = () => {
    stop()
    round(0)
  }
  /** The first panel in the next frame, whatever the beat; the others follow as if none had been drawn before. */
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
