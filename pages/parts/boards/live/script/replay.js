// The line of a run's steps: a slider that is its progress bar and leads back to earlier snapshots, and a player. A
// recording is played once, as if it were live, with nothing to steer it by.

import { el } from "../../shell/script/dom.js"

/** @import { LiveBoard } from "./types.d.ts" */

const REST = 2 // seconds at a recording's first snapshot before it moves
const FRAME = 0.2 // seconds between two looks at the clock; a snapshot is drawn once
const FRAMES_A_SECOND = 6 // snapshots, when a live run's are played again

/**
 * The bar of the replay.
 *
 * @param {LiveBoard} board
 * @param {() => void} tell says everywhere which step is shown
 */
export function replayBar(board, tell) {
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
  const show = (/** @type {number | null} */ place) => {
    board.looking = place
    // All that is drawn and said of a recording is of this one step.
    if (board.recorded() && place != null) board.cut = board.snapshots[place].step
    tell()
    board.painter.touchAll()
  }
  const look = (/** @type {number} */ place) => {
    stop()
    show(place)
  }
  const seek = (/** @type {number} */ value) => {
    if (value >= board.status.step) follow()
    else look(towards(value))
  }
  /** The place of the snapshot to which the slider was moved, or the next one in that direction. */
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
    let place = board.looking == null || board.looking >= latest() ? -1 : board.looking
    timer = setInterval(() => {
      place += 1
      if (place >= latest()) stop()
      show(Math.min(place, latest()))
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
      const place = later < 0 ? latest() : Math.max(0, later - 1)
      if (place !== board.looking) show(place)
      if (place === latest()) stop()
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
    live.textContent = board.ended() ? "Latest" : "Live"
  }
  return { root, draw, playOnce, stop, show, look }
}
