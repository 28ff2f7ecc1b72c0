// Where the parts of the picture stand, in pixels from its upper left corner: positions from left to right, layers from
// below upward.

export const MAX_DRAWN_POSITIONS = 96 // of a sequence that are drawn: the last, where the answers are
const LABELS_WIDE = 72 // the names of the rows of symbols, where they stand beside them
const BETWEEN = 8 // kinds of attention
const [THINNEST, LARGEST, LARGEST_BELOW] = [2, 56, 22] // a head, beside and below a band

/**
 * The sizes of the picture with its controls, of a bare one, and of one that stands alone on its page: where a layer's
 * parts stand beside its band, where they stand below it, both in pixels, and in a room, in units of the page's letters.
 *
 * `from`: the width from which on they stand beside it; `beside`: the parts at the left; `names`: those above the heads;
 * `bars`: the bars with the room beside them; `strip`: the parts below a band; `around`: what stands there beside the
 * heads; `top`, `foot`: the rows above and below the layers; `letters`: of the largest symbol; `rows`: the height of a
 * layer's band, the least and the most, and of all, up to four and more.
 */
const WIDE = {
  controls: { from: 700, beside: 190, names: 116, bars: 104, top: 26, foot: 24, letters: 15, rows: [10, 84, 132, 176] },
  bare: { from: 300, beside: 76, names: 0, bars: 52, top: 6, foot: 8, letters: 15, rows: [6, 50, 66, 66] },
  alone: { from: 300, beside: 84, names: 0, bars: 0, top: 6, foot: 8, letters: 26, rows: [6, 50, 66, 66] },
}
const NARROW = {
  controls: { strip: 28, around: 220, top: 34, foot: 24, letters: 15, rows: [8, 56, 150, 150] },
  bare: { strip: 24, around: 70, top: 6, foot: 8, letters: 15, rows: [8, 56, 150, 150] },
  alone: { strip: 24, around: 70, top: 6, foot: 8, letters: 15, rows: [8, 56, 150, 150] },
}
const ROOM = {
  controls: { beside: 12.5, names: 6.2, bars: 7.6, top: 1.8, foot: 1.7, letters: 1.2 },
  bare: { beside: 12.5, names: 0, bars: 3.8, top: 1.8, foot: 1.7, letters: 1.2 },
}

/**
 * @typedef {Object} Layout
 * @property {boolean} wide whether a layer's parts stand beside its band
 * @property {number} width
 * @property {number} height
 * @property {number} left the room at the left of the positions; 0 where the names of the rows of symbols stand above
 *   them
 * @property {number} pitch the distance between two positions
 * @property {number} middle the width of all positions
 * @property {number} row the height of a layer's band, in which its arcs run
 * @property {number} strip the height of a layer's parts below its band; 0 where they stand beside it
 * @property {number} top the height of the row above the layers
 * @property {number} foot the height of the row below the layers
 * @property {number} tile the side of a head
 * @property {number} gap between two heads
 * @property {number} tiles the width of all heads of a layer
 * @property {number} letters the size of the symbols' letters
 * @property {number} layers
 * @property {number} sources
 * @property {Firsts} firsts
 */
/** @typedef {{reads: number, source: number}} Firsts the first position that is drawn, of each kind */

/**
 * The first drawn positions of a sample.
 *
 * @param {Pick<import("../types.d.ts").Sample, "tokens" | "source"> | undefined} sample
 * @returns {Firsts}
 */
export function firstsOf(sample) {
  const first = (/** @type {string[]} */ symbols = []) => Math.max(0, symbols.length - MAX_DRAWN_POSITIONS)
  return { reads: first(sample?.tokens), source: first(sample?.source) }
}

/**
 * The layout of a model and its sequence.
 *
 * @param {{width: number, layers: number, heads: number, kinds: number, positions: number, sources: number, controls:
 *   boolean, longest: number, tall?: number, room?: boolean, letter?: number, times?: number, firsts?: Firsts}} wanted
 *   `heads` of one kind of attention in a layer; `longest`: the letters of the longest symbol; `tall`: the height to
 *   fill, in a room or where the picture stands alone; else 0; `letter`: the size of the page's letters; `times`: how
 *   much higher than usual the layers are
 * @returns {Layout}
 */
export function layoutOf(
  {
    width,
    layers,
    heads,
    kinds,
    positions,
    sources,
    controls,
    longest,
    tall = 0,
    room = false,
    letter = 16,
    times = 1,
    firsts = { reads: 0, source: 0 },
  },
) {
  const kind = controls ? "controls" : "bare"
  const sizes = tall && !room && !controls ? "alone" : kind
  const columns = Math.max(1, positions + (sources ? sources + 1 : 0))
  const sides = room ? inPixels(ROOM[kind], letter) : WIDE[sizes]
  const names = heads ? sides.names : 0
  const gapOf = (/** @type {number} */ tile) => (tile < 10 ? 1 : 3)
  const tilesOf = (/** @type {number} */ tile) =>
    kinds * heads * (tile + gapOf(tile)) + Math.max(0, kinds - 1) * BETWEEN
  const middleOf = (/** @type {number} */ tile) =>
    width - sides.beside - 20 - Math.max(names, tilesOf(tile)) - sides.bars
  const wide = width >= WIDE[sizes].from && middleOf(THINNEST) >= 6 * columns
  const { top, foot, letters } = wide || room ? sides : NARROW[sizes]
  const strip = wide ? 0 : NARROW[sizes].strip
  const row = tall
    ? Math.max(10, (tall - top - foot) / layers - strip)
    : times * rowHeight((wide ? WIDE : NARROW)[sizes].rows, layers)
  const each = (/** @type {number} */ room) => room / Math.max(1, kinds * heads) - 3
  const free = width - sides.beside - sides.bars - 1.5 * letter * columns // of the symbols
  const most = tall
    ? each(room ? Math.max(0.18 * width, Math.min(0.3 * width, free)) : 0.14 * width)
    : Math.min(LARGEST * times, Math.max(24, each(names)))
  const tight = (/** @type {number} */ tile) =>
    wide
      ? middleOf(tile) < columns * (columns > 60 ? 6 : 9) // the pitch below which heads become smaller first
      : tilesOf(tile) > width - NARROW[sizes].around
  let tile = Math.max(THINNEST, Math.floor(wide ? Math.min(row - 3, most) : LARGEST_BELOW))
  while (tile > THINNEST && tight(tile)) tile -= 1
  const left = wide ? sides.beside : (width - LABELS_WIDE) / columns >= 14 ? LABELS_WIDE : 0
  const pitch = Math.max(1, (wide ? middleOf(tile) : width - left) / columns)
  return {
    wide,
    width,
    left,
    pitch,
    row,
    strip,
    top,
    foot,
    tile,
    layers,
    sources,
    firsts,
    gap: gapOf(tile),
    height: top + layers * (row + strip) + foot,
    middle: columns * pitch,
    tiles: Math.max(wide ? names : 0, tilesOf(tile)),
    letters: Math.max(6, Math.min(letters, pitch / ((sizes === "alone" ? 0.85 : 0.64) * Math.max(1, longest)))),
  }
}

/** The sizes of a room in pixels, of letters of that size. */
const inPixels = (
  /** @type {typeof ROOM["bare"]} */ sizes,
  /** @type {number} */ letter,
) => /** @type {typeof sizes} */ (Object.fromEntries(
  Object.entries(sizes).map(([name, size]) => [name, size * letter]),
))

/** Few layers get more room than many; all together hardly grow. */
const rowHeight = (/** @type {number[]} */ [least, most, few, many], /** @type {number} */ layers) =>
  Math.max(least, Math.min(most, (layers > 4 ? many : few) / layers))

/**
 * The middle of a position.
 *
 * @param {Layout} layout
 * @param {"source" | "reads"} kind
 * @param {number} position
 */
export function xOf({ left, pitch, sources, firsts }, kind, position) {
  const before = kind === "source" || !sources ? 0 : sources + 1
  return left + (before + position - firsts[kind] + 0.5) * pitch
}

/** The height of the stream after a layer; 0 is the stream before the first. */
export function heightOf(/** @type {Layout} */ { top, layers, row, strip }, /** @type {number} */ state) {
  return top + (layers - state) * (row + strip)
}

/**
 * The position whose column has this x, and its kind.
 *
 * @param {Layout} layout
 * @param {number} x
 * @returns {{kind: "source" | "reads", position: number}}
 */
export function columnAt({ left, pitch, sources, firsts }, x) {
  const column = Math.floor((x - left) / pitch)
  if (!sources) return { kind: "reads", position: firsts.reads + column }
  return column <= sources
    ? { kind: "source", position: firsts.source + column }
    : { kind: "reads", position: firsts.reads + column - sources - 1 }
}
