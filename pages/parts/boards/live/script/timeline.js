// Where a run is: its state in words, the slider over its steps, the milestones at which something changed.

import { matrixOf } from "./data.js"
import { duration, el, number } from "../../base/script/dom.js"

/** @import { LiveBoard, Snapshot, Status } from "./types.d.ts" */

export const STATES = {
  none: "Untrained",
  queued: "Waiting",
  running: "Training",
  paused: "Paused",
  finished: "Finished",
  failed: "Failed",
  stopped: "Stopped",
  lost: "Lost",
  recorded: "Recorded run",
}
const RECENT = 4 // seconds over which the speed is taken

/**
 * Gives a function that puts the run's state into words: step, speed, time left, place in the queue, the machine of a
 * cluster, the reason of a failure.
 */
export function runInWords(/** @type {LiveBoard} */ board) {
  /** @type {{now: number, step: number}[]} */
  const readings = []

  /**
   * Seconds, by the speed over the last seconds of real time, with the pace and other runs included; null where it is
   * not known yet.
   */
  const timeLeft = (/** @type {Status} */ status) => {
    const now = performance.now() / 1000
    if (readings.length && readings[readings.length - 1].step > status.step) readings.length = 0
    if (!readings.length || readings[readings.length - 1].step < status.step) readings.push({ now, step: status.step })
    while (readings.length > 2 && now - readings[0].now > RECENT) readings.shift()
    const [first, last] = [readings[0], readings[readings.length - 1]]
    return last.now - first.now < 0.5
      ? null
      : ((status.steps - status.step) * (last.now - first.now)) / (last.step - first.step)
  }
  const sentence = (/** @type {Status} */ status, /** @type {string} */ state, /** @type {number} */ step) => {
    const looking = board.replayedStep() == null ? "" : "looking at "
    const parts = [`${looking}step ${step.toLocaleString("en")} of ${status.steps.toLocaleString("en")}`]
    if (state !== "running") readings.length = 0 // a pause is no training time
    if (state === "queued" && status.queue_seconds) parts.unshift(`starts in about ${duration(status.queue_seconds)}`)
    if (state === "queued" && status.queue_position != null) {
      parts.unshift(`place ${status.queue_position} in the queue`)
    }
    const left = state === "running" ? timeLeft(status) : null
    if (left != null) parts.push(`${duration(left)} left`)
    if (status.machine && state !== "queued") parts.push(`on ${status.machine} (cluster)`)
    // Last, since the end of the line goes where there is little room.
    if (state === "running" && status.tokens_per_second) parts.push(`${number(status.tokens_per_second)} tokens/s`)
    return parts.join(" · ")
  }
  return () => {
    const { status } = board
    const state = board.recorded() || board.data.shipped ? "recorded" : status.state
    const step = board.replayedStep() ?? board.shownStep()
    return {
      state,
      words: status.steps ? sentence(status, state, step) : "",
      reason: status.problem,
      spoken: status.step ? ` at step ${status.step}` : "",
    }
  }
}

// The mean of the largest attention weights from which a head is sharp: each query reads mostly from one key.
const SHARP = 0.5

/**
 * [{step, name}] in the order of the steps: when the accuracy crossed a milestone, when the answers first arose as they do
 * now, or else when a head first was sharp, when it failed.
 */
function milestonesOf(/** @type {LiveBoard} */ board) {
  const { column = "", levels = {} } = board.milestones ?? {}
  const [steps, values] = column ? board.column(column) : [[], []]
  const crossed = Object.entries(levels).map(([name, level]) => ({
    name,
    step: steps[values.findIndex((value) => value >= level)],
  }))
  const pattern = firstAnswerLayer(board) ?? { name: "focused attention", step: firstSharp(board) }
  const failed = {
    name: "not finite",
    step: board.status.state === "failed" && board.shownStep() >= board.status.step ? board.status.step : null,
  }
  return [...crossed, pattern, failed]
    .flatMap(({ name, step }) => (step != null && step <= board.untilStep ? [{ name, step }] : []))
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
function firstAnswerLayer(/** @type {LiveBoard} */ board) {
  const snapshots = board.snapshots.filter(({ step }) => step <= board.untilStep)
  const last = snapshots[snapshots.length - 1]?.answer_layer
  const first = snapshots.findIndex(({ answer_layer }) => answer_layer === last)
  return last && first > 0 ? { name: last, step: snapshots[first].step } : null
}

/** Whether some head is sharp. */
function isSharp(/** @type {Snapshot} */ snapshot) {
  return (snapshot.sharp ??= Object.values(snapshot.patterns).some((grid) => {
    const [layers, heads, queries] = grid.shape
    return Array.from({ length: layers * heads }).some((_, index) => {
      // Early queries have few keys and so are sharp by themselves.
      const rows = matrixOf(grid, index).slice(Math.floor(queries / 2))
      return rows.reduce((sum, row) => sum + Math.max(...row), 0) / rows.length >= SHARP
    })
  }))
}

/** Buttons that lead to the snapshot nearest to each milestone. */
export function milestonesBar(/** @type {LiveBoard} */ board, /** @type {(index: number) => void} */ jumpTo) {
  const root = el("div", { class: "milestones", role: "group", "aria-label": "Moments of this run" })
  let drawn = ""
  const nearest = (/** @type {number} */ step) =>
    board.snapshots.reduce(
      (best, one, at, all) => (Math.abs(one.step - step) < Math.abs(all[best].step - step) ? at : best),
      0,
    )
  const draw = () => {
    const found = milestonesOf(board)
    const wanted = JSON.stringify(found)
    if (wanted === drawn) return
    drawn = wanted
    root.replaceChildren(
      ...found.map(({ step, name }) =>
        el("button", {
          type: "button",
          title: `${name}, at step ${step}: look at the nearest snapshot`,
          onclick: () => board.snapshots.length && jumpTo(nearest(step)),
        }, `${name} · ${step.toLocaleString("en")}`)
      ),
    )
  }
  return { root, draw }
}

/** Thin upright lines at the milestones. */
export function milestoneLines(/** @type {LiveBoard} */ board) {
  const style = { line: { width: 1, dash: "dot" }, opacity: 0.45, layer: "below" }
  return milestonesOf(board).map(({ step, name }) => ({ ...upright(step), name, ...style }))
}

/** A line from the lower to the upper end of a plot. */
export const upright = (/** @type {number} */ x) => ({ type: "line", x0: x, x1: x, yref: "paper", y0: 0, y1: 1 })

const REST = 2 // seconds at a recording's first snapshot before it moves
const FRAME = 0.2 // seconds between two readings of the clock; a snapshot is drawn once
const FRAMES_A_SECOND = 6 // snapshots, when a live run's are played again

/**
 * The bar of the replay.
 *
 * @param {LiveBoard} board
 * @param {() => void} showState says everywhere which step is shown
 */
export function replayBar(board, showState) {
  const play = el("button", { type: "button", class: "play", onclick: () => toggle() })
  const slider = el("input", {
    type: "range",
    min: 0,
    max: 0,
    value: 0,
    "aria-label": "Look back at a step",
    oninput: () => seek(Number(slider.value)),
  })
  const live = el("button", { type: "button", class: "live", onclick: () => follow() }, "Live")
  const root = el("div", { class: "replay" }, play, slider, live)
  /** @type {ReturnType<typeof setInterval> | undefined} */
  let timer

  const latest = () => board.snapshots.length - 1
  const stepAt = () => board.replayedStep() ?? board.shownStep()
  const show = (/** @type {number | null} */ index) => {
    board.looking = index
    // All that is drawn and said of a recording is of this one step.
    if (board.recorded() && index != null) board.untilStep = board.snapshots[index].step
    showState()
    board.painter.touchAll()
  }
  const jumpTo = (/** @type {number} */ index) => {
    stop()
    show(index)
  }
  const seek = (/** @type {number} */ value) => {
    if (value >= board.status.step) follow()
    else jumpTo(towards(value))
  }
  /** The index of the snapshot to which the slider was moved, or the next one in that direction. */
  const towards = (/** @type {number} */ step) => {
    const after = board.snapshots.findIndex((snapshot) => snapshot.step >= step)
    if (after < 0) return latest()
    return board.snapshots[after].step === step || step > stepAt() ? after : Math.max(0, after - 1)
  }
  const follow = () => {
    stop()
    show(null)
  }
  const stop = () => {
    clearInterval(timer)
    timer = undefined
    draw()
  }
  const toggle = () => (timer ? stop() : start())
  const start = () => {
    let index = board.looking == null || board.looking >= latest() ? -1 : board.looking
    timer = setInterval(() => {
      index += 1
      if (index >= latest()) stop()
      show(Math.min(index, latest()))
    }, 1000 / FRAMES_A_SECOND)
    draw()
  }
  /** Play a recording within so many seconds. It waits while nobody sees it. */
  const playOnce = (/** @type {number} */ seconds) => {
    let clock = -REST
    timer = setInterval(() => {
      if (document.hidden || !board.panels.some(({ near }) => near)) return
      clock += FRAME
      const step = Math.max(0, clock / seconds) * board.status.step
      const later = board.snapshots.findIndex((snapshot) => snapshot.step > step)
      const index = later < 0 ? latest() : Math.max(0, later - 1)
      if (index !== board.looking) show(index)
      if (index === latest()) stop()
    }, FRAME * 1000)
  }
  const draw = () => {
    root.style.visibility = latest() < 1 ? "hidden" : "visible"
    slider.max = `${board.status.steps || 1}`
    slider.value = `${stepAt()}`
    slider.setAttribute("aria-valuetext", `step ${stepAt().toLocaleString("en")}`)
    play.textContent = timer ? "❚❚" : "▶"
    play.setAttribute("aria-label", timer ? "Pause the replay" : "Play the snapshots")
    live.style.visibility = board.looking == null ? "hidden" : "inherit"
    live.hidden = board.ended() // the slider's end is the latest
  }
  return { root, draw, playOnce, stop, show, jumpTo }
}
