// What the picture says: what a position reads, what was taken away or swapped, and what that changed.

import { matrixOf } from "../grids.js"

/** @import { Weights } from "./weights.js" */
/** @import { Exact, Grid, Sample } from "../types.d.ts" */

const FEW = 0.005 // a share below it is written as 0

/** A share in whole per cent. */
export const percent = (/** @type {number} */ share) => `${Math.round(100 * (share < FEW ? 0 : share))} %`

/** A share that is known exactly: with a decimal where it is near all, so that it is never rounded to all. */
export const exactPercent = (/** @type {number} */ share) =>
  share >= 0.985 && share < 1 ? `${Math.min(99.9, 100 * share).toFixed(1)} %` : percent(share)

/**
 * A position in words: the first, the last, or its number, counted from 1.
 *
 * @param {number} place
 * @param {number} count
 * @param {string} noun
 */
export function placeInWords(place, count, noun) {
  if (place === 0) return `the first ${noun}`
  if (place === count - 1) return `the last ${noun}`
  return noun === "symbol" ? `the symbol at position ${place + 1}` : `${noun} ${place + 1}`
}

/** A text with a capital letter first. */
export const capital = (/** @type {string} */ text) => text.charAt(0).toUpperCase() + text.slice(1)

/**
 * The sentence on what a position reads most, and the place that it reads.
 *
 * @param {{place: number}} chosen
 * @param {Weights | null} weights of the attention that is spoken of
 * @param {number} layer the layer that is spoken of
 * @param {string[]} names the symbols that are read
 * @param {{own: number, same: boolean, from: string}} more how many positions the own stack has; whether they are the
 *   ones that are read; whose attention it is, in words
 * @returns {{sentence: string, key: number | null}}
 */
export function readingOf({ place }, weights, layer, names, { own, same, from }) {
  const matrix = weights?.layers[layer]
  const query = place - (weights?.firstQuery ?? 0)
  if (!matrix || query < 0 || query >= weights.queries) return { sentence: "", key: null }
  const row = matrix.subarray(query * weights.keys, (query + 1) * weights.keys)
  const most = row.reduce((best, weight, at) => (weight > row[best] ? at : best), 0)
  if (!(row[most] > 0)) return { sentence: "", key: null }
  const key = weights.firstKey + most
  const reads = capital(placeInWords(place, own, "position"))
  const itself = same && key === place ? "itself" : placeInWords(key, names.length, "symbol")
  return { sentence: `${reads} reads ${itself}, ${withArticle(names[key])}: ${percent(row[most])}${from}.`, key }
}

/** A symbol in words: a “3”, an “8”. */
const withArticle = (/** @type {string} */ name) => `${/^([8aeio]|1[18]$)/i.test(name) ? "an" : "a"} “${name}”`

/**
 * What one head reads, in words, over all positions: where most of them look, as a distance or as one position.
 *
 * @param {Grid | Exact} grid a grid [layer, head, query, key]
 * @param {number} place the head's place among all heads
 */
export function headInWords(grid, place) {
  const rows = matrixOf(grid, place).filter((row) => row.some((weight) => weight > 0))
  const keys = rows.map((row) => row.indexOf(Math.max(...row)))
  const sharp = rows.reduce((sum, row, at) => sum + row[keys[at]], 0) / Math.max(1, rows.length)
  if (sharp < 0.3) {
    return `Its positions look at many others, each a little: ${percent(sharp)} of the weight is on the strongest.`
  }
  const share = (/** @type {(key: number, query: number) => boolean} */ test) =>
    keys.filter((key, query) => test(key, query)).length / keys.length
  const named = (/** @type {number} */ key) => placeInWords(key, grid.shape[3], "position")
  const one = mostFrequent(keys)
  const back = mostFrequent(keys.map((key, query) => query - key))
  const near = `the one ${counted(Math.abs(back))} ${back > 0 ? "before" : "after"} it`
  const sum = mostFrequent(keys.map((key, query) => query + key))
  const ofLast = sum - (grid.shape[2] - 1)
  const mirrored = ofLast >= 0 && ofLast < grid.shape[3] ? ` (the last looks at ${named(ofLast)})` : ""
  /** @type {[number, string][]} */
  const shares = [
    [share((key, query) => query - key === back), `looks at ${back === 0 ? "itself" : near}`],
    [share((key) => key === one), `looks at ${named(one)}`],
    [share((key, query) => query + key === sum), `looks at its mirror position${mirrored}`],
  ]
  const [most, habit] = shares.sort((a, b) => b[0] - a[0])[0]
  return most < 0.4
    ? "Its positions look at different places."
    : `${percent(most)} of the positions do the same: each ${habit}.`
}

const counted = (/** @type {number} */ distance) => (distance === 1 ? "one place" : `${distance} places`)

/** The number that is there most often; 0 where there is none. */
function mostFrequent(/** @type {number[]} */ values) {
  /** @type {Map<number, number>} */
  const times = new Map()
  values.forEach((value) => times.set(value, (times.get(value) ?? 0) + 1))
  return [...times].sort((a, b) => b[1] - a[1])[0]?.[0] ?? 0
}

/** The number of right answers in words. */
export function scoreOf(/** @type {Pick<Sample, "marks">} */ sample) {
  const marks = sample.marks.filter((mark) => mark != null)
  return `${marks.filter(Boolean).length} of ${marks.length} right`
}

/**
 * The places of the answers that are written otherwise than before, and how many answers were compared.
 *
 * @param {Pick<Sample, "predictions" | "marks">} before
 * @param {Pick<Sample, "predictions" | "marks">} after
 * @param {number[]} but places that do not count
 */
export function changedAnswers(before, after, but = []) {
  const asked = after.marks
    .map((mark, place) => (mark == null || but.includes(place) ? null : place))
    .filter((place) => place != null)
  const places = asked.filter((place) => before.predictions[place] !== after.predictions[place])
  return { places, of: asked.length }
}
