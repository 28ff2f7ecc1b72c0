// From where a position has what it knows: attention roll-out, downward from one position of the last layer.
// Source: Abnar and Zuidema 2020, Quantifying Attention Flow in Transformers, section 3.

const FAINTEST = 0.02 // of the strongest arc
const MOST_ARCS = 240

/** @import { Weights } from "./weights.js" */
/** @typedef {"self" | "encoder"} StackKind */

/**
 * @typedef {Object} Arc
 * @property {"self" | "encoder" | "cross"} kind
 * @property {number} layer from 0
 * @property {number} query the position that reads
 * @property {number} key the position that is read
 * @property {number} share of what the chosen position has, how much comes along this arc
 * @property {number} weight the attention weight; NaN where there is none
 */

/**
 * @typedef {Arc & {head: number, upto: number, first: boolean}} Hop an arc of the path of an answer, along one head; the
 *   stream carries on what it brought up to below the layer `upto`; the lowest one is the first
 */

/**
 * @typedef {Object} Stream a stretch of the stream of a position, past a layer
 * @property {StackKind} kind
 * @property {number} layer from 0
 * @property {number} place
 * @property {number} share of what the chosen position has, how much comes along it
 */

/**
 * The arcs and the stretches of the streams along which something comes to a position. A layer's attention counts half
 * and the stream that is carried past it half; where the skip connection is cut, attention counts alone.
 *
 * @param {Object} model
 * @param {number} model.layers
 * @param {Weights | null} model.self
 * @param {Weights | null} [model.cross]
 * @param {Weights | null} [model.encoder]
 * @param {(kind: StackKind, layer: number) => boolean} model.skips whether the stream is carried past a layer
 * @param {{kind: StackKind, place: number}} from
 * @returns {{arcs: Arc[], streams: Stream[]}} the strongest first
 */
export function flowTo({ layers, self, cross = null, encoder = null, skips }, { kind, place }) {
  /** @type {Arc[]} */
  const arcs = []
  /** @type {Stream[]} */
  const streams = []
  const memory = new Float64Array(cross?.keys ?? 0)

  /**
   * Follows a layer's attention from the queries to the keys, whether or not the stream is carried past the layer: what
   * each query keeps stays in `mass`, what comes to each key is added to `reach`.
   */
  const follow = (
    /** @type {Arc["kind"]} */ which,
    /** @type {Weights} */ weights,
    /** @type {number} */ layer,
    /** @type {Float64Array} */ mass,
    /** @type {boolean} */ carried,
    /** @type {Float64Array} */ reach,
  ) => {
    const matrix = weights.layers[layer]
    if (!matrix) return
    const read = carried ? 0.5 : 1
    for (let query = 0; query < mass.length; query++) {
      if (!(mass[query] > 1e-4)) continue
      for (let key = 0; key < weights.keys; key++) {
        const weight = matrix[query * weights.keys + key]
        const share = mass[query] * read * weight
        reach[key] += share
        if (share > 1e-3) arcs.push({ kind: which, layer, query, key, share, weight })
      }
      mass[query] *= 1 - read
    }
  }
  const descend = (
    /** @type {StackKind} */ stack,
    /** @type {Weights | null} */ weights,
    /** @type {Float64Array} */ mass,
  ) => {
    for (let layer = layers - 1; layer >= 0; layer--) {
      const next = new Float64Array(mass.length)
      if (weights?.layers[layer]) {
        if (stack === "self" && cross) follow("cross", cross, layer, mass, skips(stack, layer), memory)
        follow(stack, weights, layer, mass, skips(stack, layer), next)
      }
      mass.forEach((share, place) => {
        if (share > 1e-3) streams.push({ kind: stack, layer, place, share })
        next[place] += share
      })
      mass = next
    }
  }
  const own = kind === "encoder" ? encoder : self
  const mass = new Float64Array(own?.queries ?? place + 1)
  mass[place] = 1
  descend(kind, own, mass)
  if (kind === "self" && encoder) descend("encoder", encoder, memory)
  return { arcs: strongest(arcs), streams }
}

/**
 * The positions that reach one through causal convolutions, whose reach doubles in each layer. All arcs are alike:
 * there are no weights.
 *
 * @param {number} layers
 * @param {number} kernel the number of positions that one convolution reads
 * @param {number} place
 * @param {(layer: number) => boolean} gone
 */
export function reachOf(layers, kernel, place, gone) {
  let reached = new Set([place])
  /** @type {Arc[]} */
  const arcs = []
  for (let layer = layers - 1; layer >= 0; layer--) {
    if (gone(layer)) continue
    /** @type {Set<number>} */
    const next = new Set()
    for (const query of reached) {
      for (let tap = 0; tap < kernel; tap++) {
        const key = query - tap * 2 ** layer
        if (key < 0) continue
        next.add(key)
        arcs.push({ kind: "self", layer, query, key, share: 0.5, weight: NaN })
      }
    }
    reached = next
  }
  return { arcs: arcs.slice(0, 2 * MOST_ARCS), streams: [] }
}

/** The arcs that are strong enough to be drawn. */
function strongest(/** @type {Arc[]} */ arcs) {
  arcs.sort((a, b) => b.share - a.share)
  const least = FAINTEST * (arcs[0]?.share ?? 0)
  return arcs.filter(({ share }, at) => at < MOST_ARCS && share >= least)
}
