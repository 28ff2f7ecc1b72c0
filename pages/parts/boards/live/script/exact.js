// The exact arrays behind figures that are drawn from bytes: for the saved data, and for the tooltip once the run has
// ended.

import { upto } from "./columns.js"
import { matrixOf, mosaicOf, valuesOf } from "./grids.js"
import { inApp, number } from "../../shell/script/dom.js"

/** @import { Foreign } from "../../shell/script/types.d.ts" */
/** @import { Column, Exact, Grid, LiveBoard, Numbers } from "./types.d.ts" */

const MAX_KEPT = 6 // arrays; older ones are fetched again when needed

/**
 * Gives a function that asks for an array of the shown snapshot: `there` is the array if it is loaded, `comes` a
 * promise of it.
 *
 * An array is like a grid, {shape, decoded}; null where the run no longer keeps it.
 *
 * @param {LiveBoard} board
 * @returns {LiveBoard["exact"]}
 */
export function exactNumbers(board) {
  /** @type {Map<string, Numbers>} */
  const asked = new Map()
  return (group, name) => {
    const snapshot = board.snapshot()
    if (!snapshot) return known(null) // a run that has just begun
    if (!board.data.run) { // nothing is stored of an untrained model: as exact as it is drawn
      const grid = /** @type {Record<string, Grid>} */ (snapshot[group])[name]
      return known({ shape: grid.shape, decoded: valuesOf(grid) })
    }
    const path = ["live", board.data.run, snapshot.step, group, name].map(encodeURIComponent).join("/")
    const before = asked.get(path)
    if (before) return before
    /** @type {Numbers} */
    const numbers = { there: null, comes: fetchNumbers(path) }
    numbers.comes = numbers.comes.then((found) => (numbers.there = found)).catch(() => {
      asked.delete(path)
      return /** @type {Exact | null} */ (null)
    })
    asked.set(path, numbers)
    const [oldest] = asked.keys()
    if (asked.size > MAX_KEPT) asked.delete(oldest)
    return numbers
  }
}

/** Numbers that need not be asked for. */
const known = (/** @type {Exact | null} */ array) => ({ there: array, comes: Promise.resolve(array) })

/** An array of the server; null where it is no longer kept. */
async function fetchNumbers(/** @type {string} */ path) {
  const answer = await fetch(inApp(path))
  if (answer.status !== 200) return null
  const shape = JSON.parse(answer.headers.get("X-Shape") ?? "")
  return { shape, decoded: new Float32Array(await answer.arrayBuffer()) }
}

/**
 * The lines of a figure with every step and every digit, as far as they are drawn; null where a run is no longer kept.
 *
 * @param {LiveBoard} board
 * @param {Foreign[]} traces
 * @returns {Promise<Foreign[] | null>}
 */
export async function exactLines(board, traces) {
  const runOf = (/** @type {Foreign} */ { meta }) => /** @type {string} */ (meta.run ?? board.data.run)
  /** @type {Record<string, Record<string, Column>>} */
  const found = {}
  for (const run of new Set(traces.map(runOf).filter(Boolean))) {
    const names = traces.filter((trace) => runOf(trace) === run).map(({ meta }) => ["name", meta.column])
    const address = inApp(`live/${encodeURIComponent(run)}/lines?${new URLSearchParams(names)}`)
    const answer = await fetch(address).catch(() => /** @type {Response | null} */ (null))
    if (answer?.status !== 200) return null
    found[run] = await answer.json()
  }
  return traces.map((trace) => {
    const columns = found[runOf(trace)]
    if (!columns) return trace // of the untrained model, or of stored runs, which are drawn as they are
    const [x, y] = upto(columns[trace.meta.column] ?? [[], []], trace.x[trace.x.length - 1] ?? -1)
    return { ...trace, x, y }
  })
}

/** One [row, column] matrix of an array, by its place among the leading axes. */
export function matrixAlone(/** @type {Exact} */ { shape, decoded }, /** @type {number} */ place) {
  const [rows, columns] = shape.slice(-2)
  return { shape: [rows, columns], decoded: decoded.subarray(place * rows * columns, (place + 1) * rows * columns) }
}

/**
 * All of an array as traces for the saved data: [layer, head, row, column], or its last three or two axes, all counted
 * from 1.
 *
 * @param {Exact} array
 * @param {{x: string, y: string, label: string}} named
 */
export function tracesOf(array, { x, y, label }) {
  const [layers, heads, rows, columns] = [1, 1, ...array.shape].slice(-4)
  const counted = (
    /** @type {string | false} */ outer,
    /** @type {number} */ tiles,
    /** @type {string} */ inner,
    /** @type {number} */ side,
  ) => {
    const all = Array.from({ length: tiles * side }, (_, at) => at)
    return {
      ...(outer && { [outer]: all.map((at) => 1 + Math.floor(at / side)) }),
      [inner]: all.map((at) => 1 + at % side),
    }
  }
  const axes = array.shape.length
  const meta = {
    label,
    rows: counted(axes > 3 && "layer", layers, y, rows),
    columns: counted(axes > 2 && "head", heads, x, columns),
  }
  return [{ type: "heatmap", z: mosaicOf(array, [rows, columns]), meta }]
}

/**
 * The tooltip of a drawn cell, {row, column, value} in words: exact if the array is loaded, else approximate from the
 * byte.
 *
 * Rows and columns count from 1. A cell of a block shows the block's entry of largest magnitude.
 *
 * @param {Grid} grid
 * @param {Exact | null | undefined} array
 * @param {number} place the matrix's place among the leading axes
 * @param {number} row
 * @param {number} column
 * @param {(value: number) => string} say
 */
export function entryOf(grid, array, place, row, column, say = number) {
  const [high, wide] = grid.block
  const [rows, columns] = grid.whole.slice(-2)
  const value = matrixOf(grid, place)[row]?.[column]
  if (value == null) return null
  const span = (/** @type {number} */ at, /** @type {number} */ block, /** @type {number} */ count) =>
    [...new Set([at * block + 1, Math.min(at * block + block, count)])].join("–")
  if (!array) return { row: span(row, high, rows), column: span(column, wide, columns), value: `about ${say(value)}` }
  const z = matrixOf(array, place)
  let [i, j] = [row * high, column * wide]
  for (let at = row * high; at < Math.min(row * high + high, rows); at++) {
    for (let across = column * wide; across < Math.min(column * wide + wide, columns); across++) {
      if (Math.abs(z[at][across]) > Math.abs(z[i][j])) [i, j] = [at, across]
    }
  }
  return { row: `${i + 1}`, column: `${j + 1}`, value: say(z[i][j]) }
}
