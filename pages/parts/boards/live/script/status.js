// What the status line says of a run.

import { duration, number } from "../../shell/script/dom.js"

/** @import { LiveBoard, Status } from "./types.d.ts" */

export const STATES = {
  none: "Not trained yet",
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
  const pace = []

  /**
   * Seconds, by the speed over the last seconds of real time, with the pace and other runs included; null where it is
   * not known yet.
   */
  const timeLeft = (/** @type {Status} */ status) => {
    const now = performance.now() / 1000
    if (pace.length && pace[pace.length - 1].step > status.step) pace.length = 0
    if (!pace.length || pace[pace.length - 1].step < status.step) pace.push({ now, step: status.step })
    while (pace.length > 2 && now - pace[0].now > RECENT) pace.shift()
    const [first, last] = [pace[0], pace[pace.length - 1]]
    return last.now - first.now < 0.5
      ? null
      : ((status.steps - status.step) * (last.now - first.now)) / (last.step - first.step)
  }
  const sentence = (/** @type {Status} */ status, /** @type {string} */ state, /** @type {number} */ step) => {
    const looking = board.replayedStep() == null ? "" : "looking at "
    const said = [`${looking}step ${step.toLocaleString("en")} of ${status.steps.toLocaleString("en")}`]
    if (state !== "running") pace.length = 0 // a pause is no training time
    if (state === "queued" && status.queue_seconds) said.unshift(`starts in about ${duration(status.queue_seconds)}`)
    if (state === "queued" && status.queue_place != null) said.unshift(`place ${status.queue_place} in the queue`)
    const left = state === "running" ? timeLeft(status) : null
    if (left != null) said.push(`${duration(left)} left`)
    if (status.machine && state !== "queued") said.push(`on ${status.machine} (cluster)`)
    // Last, since the end of the line goes where there is little room.
    if (state === "running" && status.tokens_per_second) said.push(`${number(status.tokens_per_second)} tokens/s`)
    return said.join(" · ")
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
