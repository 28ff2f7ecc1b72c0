// Growing lines: events are appended; a long line is thinned to the lowest and highest of each stretch.

const LONGEST = 500
const AFTER_THINNING = 400

/** @import { Column } from "./types.d.ts" */

/**
 * The same rule as columns.py: both ends, and the lowest and highest in each stretch of steps; stretches nest.
 *
 * @param {Column} column
 * @param {number} points the most that are kept
 * @returns {Column}
 */
export function thin([x, y], points) {
  if (x.length <= points) return [x, y]
  const last = x.length - 1
  let width = 1
  const stretch = (/** @type {number} */ place) => Math.floor(x[place] / width)
  while (stretch(last) - stretch(0) + 1 > (points - 2) / 2) width *= 2
  const kept = new Set([0])
  for (let start = 0; start <= last;) {
    let [low, high, end] = [start, start, start]
    for (; end <= last && stretch(end) === stretch(start); end++) {
      if (y[end] < y[low]) low = end
      if (y[end] > y[high]) high = end
    }
    kept.add(Math.min(low, high)).add(Math.max(low, high))
    start = end
  }
  const order = [...kept.add(last)]
  return [order.map((place) => x[place]), order.map((place) => y[place])]
}

/** Append new events to columns {name: [steps, values]}, without the steps that are there already. */
export function append(/** @type {Record<string, Column>} */ columns, /** @type {Record<string, Column>} */ news) {
  for (const [name, [steps, values]] of Object.entries(news)) {
    const [x, y] = (columns[name] ??= [[], []])
    const seen = x.length ? x[x.length - 1] : -1
    steps.forEach((step, i) => {
      if (step > seen) {
        x.push(step)
        y.push(values[i])
      }
    })
    if (x.length > LONGEST) columns[name] = thin([x, y], AFTER_THINNING)
  }
}

/**
 * The part of a column up to a step, for playing a recording.
 *
 * @param {Column} column
 * @param {number} step
 * @returns {Column}
 */
export function upto([x, y], step) {
  if (!x.length || x[x.length - 1] <= step) return [x, y]
  const count = x.findIndex((value) => value > step)
  return [x.slice(0, count), y.slice(0, count)]
}
