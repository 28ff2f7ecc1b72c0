// Where the parts of the picture stand, in pixels from its upper left corner: positions from left to right, layers from
// below upward.

export const MOST_POSITIONS = 96 // of a sequence that are drawn: the last, where the answers are
/** The width from which on a layer's parts stand beside its band, else below it. */
const SIDE_BY_SIDE = { controls: 700, bare: 300 }
/** The pitch below which heads become smaller first, of up to sixty columns and of more. */
const LEAST_PITCH = { few: 9, many: 6 }
const BAR = 52 // a bar with the room beside it
const LABELS_WIDE = 72 // the names of the rows of symbols, where they stand beside them
const BETWEEN = 8 // kinds of attention
const [THINNEST, LARGEST] = [2, 56] // a head
/**
 * Sizes on a presented lab, in units of the page's letters: the parts at the left, the names above the heads, a bar, the
 * rows above and below, the largest symbol.
 */
const ENLARGED = { beside: 12.5, names: 6.2, bar: 3.8, top: 1.8, foot: 1.7, letters: 1.2 }

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
  const first = (/** @type {string[]} */ symbols = []) => Math.max(0, symbols.length - MOST_POSITIONS)
  return { reads: first(sample?.tokens), source: first(sample?.source) }
}

/**
 * The layout of a model and its sequence.
 *
 * @param {{width: number, layers: number, heads: number, kinds: number, positions: number, sources: number, controls:
 *   boolean, longest: number, tall?: number, letter?: number, times?: number, firsts?: Firsts}} wanted `heads` of one kind of attention in a layer;
 *   `longest`: the letters of the longest symbol; `tall`: the height to fill in a room, as well as the width; 0 on a
 *   page; `letter`: the size of the page's letters; `times`: how much higher than usual the layers are
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
    letter = 16,
    times = 1,
    firsts = { reads: 0, source: 0 },
  },
) {
  const columns = Math.max(1, positions + (sources ? sources + 1 : 0))
  const bars = (controls ? 2 : 1) * (tall ? ENLARGED.bar * letter : BAR)
  const beside = tall ? ENLARGED.beside * letter : controls ? 190 : 76
  const gapOf = (/** @type {number} */ tile) => (tile < 10 ? 1 : 3)
  const tilesOf = (/** @type {number} */ tile) =>
    kinds * heads * (tile + gapOf(tile)) + Math.max(0, kinds - 1) * BETWEEN
  const least = !controls || !heads ? 0 : tall ? ENLARGED.names * letter : 116 // of the names above the heads
  const middleOf = (/** @type {number} */ tile) => width - beside - 20 - Math.max(least, tilesOf(tile)) - bars
  const wide = width >= SIDE_BY_SIDE[controls ? "controls" : "bare"] && middleOf(THINNEST) >= 6 * columns
  const strip = wide ? 0 : controls ? 28 : 24
  const [top, foot] = tall ? [ENLARGED.top * letter, ENLARGED.foot * letter] : controls ? [wide ? 26 : 34, 24] : [6, 8]
  const row = tall ? Math.max(10, (tall - top - foot) / layers - strip) : times * rowHeight(layers, controls, wide)
  const room = width - (controls ? 140 : 30) - (controls ? 2 : 1) * 40 // of the heads below a band
  const tight = (/** @type {number} */ tile) =>
    wide ? middleOf(tile) < columns * LEAST_PITCH[columns > 60 ? "many" : "few"] : tilesOf(tile) > room
  const each = (/** @type {number} */ room) => room / Math.max(1, kinds * heads) - 3
  const free = width - beside - bars - 1.5 * letter * columns // of the symbols
  const most = tall
    ? each(Math.max(0.18 * width, Math.min(0.3 * width, free)))
    : Math.min(LARGEST * times, Math.max(24, each(least)))
  const largest = wide ? Math.min(row - 3, most) : 22
  let tile = Math.max(THINNEST, Math.floor(largest))
  while (tile > THINNEST && tight(tile)) tile -= 1
  const left = wide ? beside : (width - LABELS_WIDE) / columns >= 14 ? LABELS_WIDE : 0
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
    tiles: Math.max(wide ? least : 0, tilesOf(tile)),
    letters: Math.max(6, Math.min(tall ? ENLARGED.letters * letter : 15, pitch / (0.64 * Math.max(1, longest)))),
  }
}

/**
 * Few layers get more room than many; all together hardly grow.
 *
 * @param {number} layers
 * @param {boolean} controls
 * @param {boolean} wide
 */
function rowHeight(layers, controls, wide) {
  if (!wide) return Math.max(8, Math.min(56, 150 / layers))
  if (!controls) return Math.max(6, Math.min(50, 66 / layers))
  return Math.max(10, Math.min(84, (layers > 4 ? 136 : 132) / layers))
}

/**
 * The middle of a position.
 *
 * @param {Layout} layout
 * @param {"source" | "reads"} kind
 * @param {number} place
 */
export function xOf({ left, pitch, sources, firsts }, kind, place) {
  const before = kind === "source" || !sources ? 0 : sources + 1
  return left + (before + place - firsts[kind] + 0.5) * pitch
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
 * @returns {{kind: "source" | "reads", place: number}}
 */
export function columnAt({ left, pitch, sources, firsts }, x) {
  const column = Math.floor((x - left) / pitch)
  if (!sources) return { kind: "reads", place: firsts.reads + column }
  return column <= sources
    ? { kind: "source", place: firsts.source + column }
    : { kind: "reads", place: firsts.reads + column - sources - 1 }
}
