// The moments of a run at which something changed: computed from its lines and snapshots, marked on the curves, and
// ways back to them.

import { matrixOf } from "./grids.js"
import { el } from "../../shell/script/dom.js"

/** @import { LiveBoard, Snapshot } from "./types.d.ts" */

// The mean of the largest attention weights from which a head is sharp: each query reads mostly from one key.
const SHARP = 0.5

/**
 * [{step, name}] in the order of the steps: when the accuracy crossed a milestone, when the answers first arose as they do
 * now, or else when a head first was sharp, when it failed.
 */
function momentsOf(/** @type {LiveBoard} */ board) {
  const { column = "", levels = {} } = board.milestones ?? {}
  const [steps, values] = column ? board.column(column) : [[], []]
  const crossed = Object.entries(levels).map(([name, level]) => ({
    name,
    step: steps[values.findIndex((value) => value >= level)],
  }))
  const pattern = firstArrival(board) ?? { name: "sharp attention", step: firstSharp(board) }
  const failed = {
    name: "not finite",
    step: board.status.state === "failed" && board.shownStep() >= board.status.step ? board.status.step : null,
  }
  return [...crossed, pattern, failed]
    .flatMap(({ name, step }) => (step != null && step <= board.cut ? [{ name, step }] : []))
    .sort((a, b) => a.step - b.step)
}

/**
 * The step of the first snapshot in which some head's mean largest weight over the later queries is sharp, if that of
 * step 0 has none.
 */
function firstSharp(/** @type {LiveBoard} */ board) {
  const first = board.snapshots.findIndex(isSharp)
  return first > 0 ? board.snapshots[first].step : null
}

/** The step of the first snapshot whose answers arise as they do now, if not step 0. */
function firstArrival(/** @type {LiveBoard} */ board) {
  const looks = board.snapshots.filter(({ step }) => step <= board.cut)
  const last = looks[looks.length - 1]?.arrival
  const first = looks.findIndex(({ arrival }) => arrival === last)
  return last && first > 0 ? { name: last, step: looks[first].step } : null
}

/** Whether some head is sharp. */
function isSharp(/** @type {Snapshot} */ snapshot) {
  return (snapshot.sharp ??= Object.values(snapshot.patterns).some((grid) => {
    const [layers, heads, queries] = grid.shape
    return Array.from({ length: layers * heads }).some((_, place) => {
      // Early queries have few keys and so are sharp by themselves.
      const rows = matrixOf(grid, place).slice(Math.floor(queries / 2))
      return rows.reduce((sum, row) => sum + Math.max(...row), 0) / rows.length >= SHARP
    })
  }))
}

/** Buttons that lead to the snapshot nearest to each moment. */
export function momentsBar(/** @type {LiveBoard} */ board, /** @type {(place: number) => void} */ look) {
  const root = el("div", { class: "moments", role: "group", "aria-label": "Moments of this run" })
  let drawn = ""
  const nearest = (/** @type {number} */ step) =>
    board.snapshots.reduce(
      (best, one, at, all) => (Math.abs(one.step - step) < Math.abs(all[best].step - step) ? at : best),
      0,
    )
  const draw = () => {
    const found = momentsOf(board)
    const wanted = JSON.stringify(found)
    if (wanted === drawn) return
    drawn = wanted
    root.replaceChildren(
      ...found.map(({ step, name }) =>
        el("button", {
          type: "button",
          title: `${name}, at step ${step}: look at the nearest snapshot`,
          onclick: () => board.snapshots.length && look(nearest(step)),
        }, `${name} · ${step.toLocaleString("en")}`)
      ),
    )
  }
  return { root, draw }
}

/** Thin upright lines at the moments. */
export function momentLines(/** @type {LiveBoard} */ board) {
  const look = { line: { width: 1, dash: "dot" }, opacity: 0.45, layer: "below" }
  return momentsOf(board).map(({ step, name }) => ({ ...upright(step), name, ...look }))
}

/** A line from the lower to the upper end of a plot. */
export const upright = (/** @type {number} */ x) => ({ type: "line", x0: x, x1: x, yref: "paper", y0: 0, y1: 1 })
