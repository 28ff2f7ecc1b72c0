// What the server sends of a run, and how it is asked for: lines, matrices, events, the untrained model.

import { inApp, number } from "../../base/script/dom.js"

/** @import { Column, Exact, Grid, LiveBoard, Update, Numbers } from "./types.d.ts" */
/** @import { Foreign } from "../../base/script/types.d.ts" */

const MAX_POINTS = 500
const THINNED_POINTS = 400

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
  const stretch = (/** @type {number} */ index) => Math.floor(x[index] / width)
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
  return [order.map((index) => x[index]), order.map((index) => y[index])]
}

/** Append new events to columns {name: [steps, values]}, without the steps that are there already. */
export function append(/** @type {Record<string, Column>} */ columns, /** @type {Record<string, Column>} */ update) {
  for (const [name, [steps, values]] of Object.entries(update)) {
    const [x, y] = (columns[name] ??= [[], []])
    const newest = x.length ? x[x.length - 1] : -1
    steps.forEach((step, i) => {
      if (step > newest) {
        x.push(step)
        y.push(values[i])
      }
    })
    if (x.length > MAX_POINTS) columns[name] = thin([x, y], THINNED_POINTS)
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

/** The values of a grid or an array as one flat array, row by row, last axis fastest; decoded once. */
export function valuesOf(/** @type {Grid | Exact} */ grid) {
  if (grid.decoded) return grid.decoded
  const { values, zero, step } = /** @type {Grid} */ (grid)
  const bytes = atob(values)
  const decoded = new Float32Array(bytes.length)
  for (let at = 0; at < bytes.length; at++) decoded[at] = (bytes.charCodeAt(at) - zero) * step
  return grid.decoded = decoded
}

/**
 * One [row, column] matrix out of a grid, by its index along the leading axes.
 *
 * @param {Grid | Exact} grid
 */
export function matrixOf(grid, index = 0) {
  const [rows, columns] = grid.shape.slice(-2)
  const values = valuesOf(grid)
  const start = index * rows * columns
  return Array.from({ length: rows }, (_, row) => values.subarray(start + row * columns, start + (row + 1) * columns))
}

/** All matrices [layer, head] side by side with empty cells between: tiles of size [high, wide] including the gap. */
export function mosaicOf(/** @type {Grid | Exact} */ grid, /** @type {number[]} */ [high, wide]) {
  const [rows, columns] = grid.shape.slice(-2)
  const [layers, heads] = [1, 1, ...grid.shape].slice(-4)
  const height = layers * high - (high - rows)
  const width = heads * wide - (wide - columns)
  const picture = Array.from({ length: height }, () => new Float32Array(width).fill(NaN))
  for (let layer = 0; layer < layers; layer++) {
    for (let head = 0; head < heads; head++) {
      matrixOf(grid, layer * heads + head).forEach((values, row) => {
        const target = picture[layer * high + row]
        for (let column = 0; column < columns; column++) target[head * wide + column] = values[column]
      })
    }
  }
  return picture
}

const MAX_ARRAYS = 6 // arrays; older ones are fetched again when needed

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
  const fetched = new Map()
  return (group, name) => {
    const snapshot = board.snapshot()
    if (!snapshot) return known(null) // a run that has just begun
    if (!board.data.run) { // nothing is stored of an untrained model: as exact as it is drawn
      const grid = /** @type {Record<string, Grid>} */ (snapshot[group])[name]
      return known({ shape: grid.shape, decoded: valuesOf(grid) })
    }
    const path = ["live", board.data.run, snapshot.step, group, name].map(encodeURIComponent).join("/")
    const before = fetched.get(path)
    if (before) return before
    /** @type {Numbers} */
    const numbers = { there: null, comes: fetchNumbers(path) }
    numbers.comes = numbers.comes.then((found) => (numbers.there = found)).catch(() => {
      fetched.delete(path)
      return /** @type {Exact | null} */ (null)
    })
    fetched.set(path, numbers)
    const [oldest] = fetched.keys()
    if (fetched.size > MAX_ARRAYS) fetched.delete(oldest)
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

/** One [row, column] matrix of an array, by its index along the leading axes. */
export function matrixAlone(/** @type {Exact} */ { shape, decoded }, /** @type {number} */ index) {
  const [rows, columns] = shape.slice(-2)
  return { shape: [rows, columns], decoded: decoded.subarray(index * rows * columns, (index + 1) * rows * columns) }
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
 * @param {number} index the matrix's index along the leading axes
 * @param {number} row
 * @param {number} column
 * @param {(value: number) => string} say
 */
export function entryOf(grid, array, index, row, column, say = number) {
  const [high, wide] = grid.block
  const [rows, columns] = grid.whole.slice(-2)
  const value = matrixOf(grid, index)[row]?.[column]
  if (value == null) return null
  const span = (/** @type {number} */ at, /** @type {number} */ block, /** @type {number} */ count) =>
    [...new Set([at * block + 1, Math.min(at * block + block, count)])].join("–")
  if (!array) return { row: span(row, high, rows), column: span(column, wide, columns), value: `about ${say(value)}` }
  const z = matrixOf(array, index)
  let [i, j] = [row * high, column * wide]
  for (let at = row * high; at < Math.min(row * high + high, rows); at++) {
    for (let across = column * wide; across < Math.min(column * wide + wide, columns); across++) {
      if (Math.abs(z[at][across]) > Math.abs(z[i][j])) [i, j] = [at, across]
    }
  }
  return { row: `${i + 1}`, column: `${j + 1}`, value: say(z[i][j]) }
}

// A silent stream is given up after them: polling costs a busy server far more than waiting.
const SILENCE_MILLISECONDS = 8000
// After so much polling the stream is tried again: a server that was late once may answer by now.
const STREAM_RETRY_MILLISECONDS = 60000

/** Follow the board's run from the event that it `have`s on; gives a function that ends it. `onSilence`: no stream gets
 * through; `onRefusal`: the server gives none now. After either the page polls, and while it does the stream is tried again now
 * and then; `onBack`: it gets through. What both bring is the same, and the board takes no event twice. `polled`: begin with
 * polling, as no stream of an earlier run got through.
 *
 * While the tab is hidden the stream is closed: a browser opens six connections to a host, and other tabs need them.
 *
 * @param {LiveBoard} board
 * @param {{onUpdate: (update: Update) => void, onSilence: () => void, onRefusal: () => void, onBack: () => void}} heard
 */
export function followRun(board, { onUpdate, onSilence, onRefusal, onBack }, polled = false) {
  /** @type {EventSource | null} */
  let source = null
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let patience
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let again

  const open = () => {
    source = new EventSource(inApp(`live/${encodeURIComponent(board.data.run)}?after=${board.have}`))
    patience = setTimeout(() => giveUp(onSilence), SILENCE_MILLISECONDS)
    source.onmessage = (event) => {
      clearTimeout(patience)
      const update = JSON.parse(event.data)
      if (update.end) end()
      onUpdate(update)
      if (polled) onBack()
      polled = false
    }
    const mine = source
    source.onerror = () => {
      if (mine === source && mine.readyState === EventSource.CLOSED && !board.ended()) giveUp(onRefusal)
    }
  }
  const close = () => {
    clearTimeout(patience)
    source?.close()
    source = null
  }
  const turn = () => {
    close()
    if (!document.hidden && again === undefined) open()
  }
  const end = () => {
    document.removeEventListener("visibilitychange", turn)
    clearTimeout(again)
    close()
  }
  const giveUp = (/** @type {() => void} */ why) => {
    close()
    tryLater()
    if (!polled) why()
    polled = true
  }
  const tryLater = () => {
    again = setTimeout(() => {
      again = undefined
      if (board.ended()) end()
      else turn()
    }, STREAM_RETRY_MILLISECONDS)
  }
  document.addEventListener("visibilitychange", turn)
  if (polled) tryLater()
  else turn()
  return end
}

const UNTRAINED_RETRY_MILLISECONDS = 2000 // while the server is still waking up

/**
 * Gives `show(query)`: asks for the model of these settings; an empty query asks for nothing more.
 *
 * @param {{onUpdate: (update: Update) => void, onProblem: (sentence: string) => void}} heard
 */
export function untrainedModel({ onUpdate, onProblem }) {
  let shown = ""
  /** @type {AbortController | null} */
  let asking = null
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let again

  const ask = async (/** @type {string} */ query) => {
    asking?.abort()
    asking = new AbortController()
    const mine = asking
    try {
      const answer = await fetch(inApp(`untrained?${query}`), { signal: mine.signal })
      const update = await answer.json()
      if (shown === query) update.problem ? onProblem(update.problem) : onUpdate(update)
    } catch {
      if (!mine.signal.aborted && shown === query) {
        again = setTimeout(() => shown === query && ask(query), UNTRAINED_RETRY_MILLISECONDS)
      }
    }
  }
  const show = (/** @type {string | undefined} */ query) => {
    if ((query ?? "") === shown) return
    shown = query ?? ""
    clearTimeout(again)
    asking?.abort()
    if (shown) ask(shown)
  }
  return { show }
}
