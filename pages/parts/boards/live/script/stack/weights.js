// What the picture draws of a snapshot: the attention weights of the parts that are there, which position is followed, and
// along which arcs something comes to it.

import { valuesOf } from "../data.js"
import { firstsOf, MAX_DRAWN_POSITIONS } from "./layout.js"

/** @import { At, Head, Model, Path, Sample, Snapshot, Which } from "../types.d.ts" */

/**
 * @typedef {Object} Weights
 * @property {number} queries
 * @property {number} keys
 * @property {number} firstQuery the position of the first query
 * @property {number} firstKey
 * @property {(Float32Array | null)[]} layers row by row, [query * keys + key]; null for an ablated layer
 */

/**
 * The weights of one kind of attention, of the drawn indices.
 *
 * @param {Pick<Snapshot, "patterns" | "means"> & Partial<Pick<Snapshot, "samples">>} snapshot
 * @param {Which} kind
 * @param {(number | null)[]} indices the index in the snapshot of each layer of the model; null for an ablated layer
 * @param {{only?: {layer: number, head: number} | null, off?: (layer: number, head: number) => boolean}} heads the one
 *   head that counts in its layer, and those that are taken away
 * @returns {Weights | null} null where the snapshot has no attention of this kind
 */
export function weightsOf(snapshot, kind, indices, { only = null, off = () => false } = {}) {
  const whole = snapshot?.patterns?.[kind]
  if (!whole) return null
  const mean = whole.block.some((cells) => cells > 1) ? snapshot.means?.[kind] : null
  const grid = mean ?? whole
  const [rows, columns] = grid.shape.slice(-2)
  const firsts = firstsOf(snapshot.samples?.[0])
  const [firstQuery, firstKey] = [
    firsts[kind === "encoder" ? "source" : "reads"],
    firsts[kind === "self" ? "reads" : "source"],
  ]
  const [row, column] = mean ? [0, 0] : [firstQuery, firstKey] // of the grid
  const [queries, keys] = [rows - row, columns - column].map((count) =>
    Math.max(0, Math.min(MAX_DRAWN_POSITIONS, count))
  )
  const heads = mean ? 1 : grid.shape[1]
  const values = valuesOf(grid)
  const layers = indices.map((index, layer) => {
    if (index == null || index >= grid.shape[0]) return null
    const counted = mean ? [0] : headsOf(layer, heads, only, off)
    const sum = new Float32Array(queries * keys)
    for (const head of counted) {
      for (let query = 0; query < queries; query++) {
        const start = ((index * heads + head) * rows + row + query) * columns + column
        for (let key = 0; key < keys; key++) sum[query * keys + key] += values[start + key] / counted.length
      }
    }
    return sum
  })
  return { queries, keys, firstQuery, firstKey, layers }
}

/**
 * The heads that count in a layer.
 *
 * @param {number} layer
 * @param {number} heads
 * @param {{layer: number, head: number} | null} only
 * @param {(layer: number, head: number) => boolean} off
 */
function headsOf(layer, heads, only, off) {
  if (only?.layer === layer) return [only.head]
  return Array.from({ length: heads }, (_, head) => head).filter((head) => !off(layer, head))
}

/** The index in a snapshot of each layer of the model; null for an ablated one. */
export function indicesOf(/** @type {number} */ layers, /** @type {(layer: number) => boolean} */ isLayerAblated) {
  let there = 0
  return Array.from({ length: layers }, (_, layer) => (isLayerAblated(layer) ? null : there++))
}

/**
 * A row of a snapshot's residual stream for each state of the model: an ablated layer leaves the stream as it is.
 *
 * @template T
 * @param {T[] | undefined} rows before the first layer and after each
 * @param {(number | null)[]} indices as indicesOf gives them
 * @returns {(T | undefined)[]}
 */
export function statesOf(rows, indices) {
  let state = 0
  return [rows?.[0], ...indices.map((index) => rows?.[index == null ? state : (state = index + 1)])]
}

/** What stands before a layer's number in the names of parts. */
const LETTERS = { self: "", encoder: "e", cross: "c" }

/** The name of a head among the parts of the model. */
export const headName = (/** @type {Head} */ { which, layer, head }) => `head.${LETTERS[which]}${layer}.${head}`

/** @typedef {ReturnType<typeof readoutOf>} Readout */

/**
 * A snapshot as the picture needs it; `known` is whether it is one of this model.
 *
 * @param {Model} model
 * @param {Pick<Snapshot, "patterns" | "means" | "residual" | "paths" | "flowing"> & Partial<Pick<Snapshot, "samples">>
 *   | undefined} snapshot
 * @param {{ablated: string[], only: Head | null}} view the names of the parts
 *   that were taken away from the snapshot's model; the one head whose arcs are drawn
 */
export function readoutOf(model, snapshot, { ablated, only }) {
  const names = new Set(ablated)
  const passes = ["gru", "lstm"].includes(model.family) // nothing is carried past their layers
  const stackOf = (/** @type {Which} */ which) => (which === "encoder" ? "e" : "")
  const isLayerAblated = (/** @type {Which} */ which) => (/** @type {number} */ layer) =>
    names.has(`layer.${stackOf(which)}${layer}`)
  const indices = (/** @type {Which} */ which) => indicesOf(model.layers, isLayerAblated(which))
  const there = (/** @type {Which} */ which) => indices(which).filter((index) => index != null).length
  const fits = (/** @type {Which} */ which) => {
    const grid = snapshot?.patterns[which]
    return grid ? grid.shape[0] === there(which) && grid.shape[1] === model.heads : there(which) === 0
  }
  const states = snapshot?.residual?.norm?.length
  const known = model.kinds.every(fits) && (states == null || states === there("self") + 1) ? snapshot : undefined
  const grid = (/** @type {Which} */ which) => known?.patterns[which] ?? null

  /** Whether a part is taken away, by the name under which it can be; of a layer's parts in any stack. */
  const isAblated = (/** @type {string} */ name, /** @type {number | null} */ layer = null) =>
    layer == null ? names.has(name) : model.stacks.some(({ prefix }) => names.has(`${name}.${prefix}${layer}`))
  const isHeadAblated = (/** @type {Head} */ head) => names.has(headName(head))
  /** Whether the stream is carried past a layer. */
  const skips = (/** @type {StackKind} */ which, /** @type {number} */ layer) =>
    passes || isLayerAblated(which)(layer) || (model.skips && !names.has(`skip.${stackOf(which)}${layer}`))

  const weights = (/** @type {Which} */ which) => {
    if (!known || !grid(which)) return null
    const alone = only?.which === which ? only : null
    const off = (/** @type {number} */ layer, /** @type {number} */ head) => isHeadAblated({ which, layer, head })
    const cache = (known.flowing ??= new Map())
    const name = JSON.stringify([which, alone, ablated.filter((part) => /^(head|layer)/.test(part))])
    const found = cache.get(name) ?? weightsOf(known, which, indices(which), { only: alone, off })
    if (found) cache.set(name, found)
    return found
  }
  const residual = (
    /** @type {string} */ name,
    /** @type {Which} */ which,
  ) => (known ? statesOf(known.residual?.[name], indices(which)) : [])
  /** The path of the answer at a position; null where it is not known, and where one head alone is drawn. */
  const path = (/** @type {At | null} */ at) => {
    const found = only || at?.kind !== "reads" ? null : known?.paths?.[at.position]
    if (!found) return null
    const layerOf = (/** @type {Which} */ which, /** @type {number} */ layer) => indices(which).indexOf(layer)
    const readings = found.readings.map((one) => ({ ...one, layer: layerOf(one.which, one.layer) }))
    return { ...found, layer: layerOf("self", found.layer), readings }
  }
  return {
    known: Boolean(known),
    only,
    firsts: firstsOf(snapshot?.samples?.[0]),
    isAblated,
    isHeadAblated,
    skips,
    indices,
    grid,
    weights,
    /** Of the streams after each layer. */
    norms: (
      /** @type {StackKind} */ which,
    ) => (which === "encoder" ? residual("encoder", "encoder") : residual("norm", "self")),
    /** How likely each right answer is after each layer. */
    rights: residual("right", "self"),
    path,
  }
}

const FAINTEST = 0.02 // of the strongest arc
const MAX_DRAWN_ARCS = 240

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
 * @property {number} position
 * @property {number} share of what the chosen position has, how much comes along it
 */

/**
 * The arcs and the stretches of the streams along which something comes to a position. A layer's attention counts half
 * and the stream that is carried past it half; where the skip connection is ablated, attention counts alone.
 *
 * @param {Object} model
 * @param {number} model.layers
 * @param {Weights | null} model.self
 * @param {Weights | null} [model.cross]
 * @param {Weights | null} [model.encoder]
 * @param {(kind: StackKind, layer: number) => boolean} model.skips whether the stream is carried past a layer
 * @param {{kind: StackKind, position: number}} from
 * @returns {{arcs: Arc[], streams: Stream[]}} the strongest first
 */
export function flowTo({ layers, self, cross = null, encoder = null, skips }, { kind, position }) {
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
      mass.forEach((share, position) => {
        if (share > 1e-3) streams.push({ kind: stack, layer, position, share })
        next[position] += share
      })
      mass = next
    }
  }
  const ofKind = kind === "encoder" ? encoder : self
  const mass = new Float64Array(ofKind?.queries ?? position + 1)
  mass[position] = 1
  descend(kind, ofKind, mass)
  if (kind === "self" && encoder) descend("encoder", encoder, memory)
  return { arcs: strongest(arcs), streams }
}

/**
 * The positions that reach one through causal convolutions, whose reach doubles in each layer. All arcs are alike:
 * there are no weights.
 *
 * @param {number} layers
 * @param {number} kernel the number of positions that one convolution reads
 * @param {number} position
 * @param {(layer: number) => boolean} isLayerAblated
 */
export function reachOf(layers, kernel, position, isLayerAblated) {
  let reached = new Set([position])
  /** @type {Arc[]} */
  const arcs = []
  for (let layer = layers - 1; layer >= 0; layer--) {
    if (isLayerAblated(layer)) continue
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
  return { arcs: arcs.slice(0, 2 * MAX_DRAWN_ARCS), streams: [] }
}

/** The arcs that are strong enough to be drawn. */
function strongest(/** @type {Arc[]} */ arcs) {
  arcs.sort((a, b) => b.share - a.share)
  const least = FAINTEST * (arcs[0]?.share ?? 0)
  return arcs.filter(({ share }, at) => at < MAX_DRAWN_ARCS && share >= least)
}

/**
 * The symbols of a sample that stand in that row.
 *
 * @param {Sample} sample
 * @param {At["kind"]} kind
 */
export const symbolsOf = (sample, kind) => (kind === "source" ? sample.source : sample.tokens)

/**
 * The position whose arcs are drawn: the wanted one, else a typical one among the drawn: right if most answers are.
 *
 * @param {Sample | undefined} sample
 * @param {At | null} wanted
 * @param {Snapshot["paths"]} [paths]
 * @returns {At | null}
 */
export function chosenIn(sample, wanted, paths = []) {
  if (!sample) return null
  const firsts = firstsOf(sample)
  if (wanted && wanted.position >= firsts[wanted.kind] && wanted.position < symbolsOf(sample, wanted.kind).length) {
    return wanted
  }
  const positions = sample.marks.flatMap((mark, position) => mark == null ? [] : [position])
  const mostly = 2 * positions.filter((position) => sample.marks[position]).length > positions.length
  const drawn = positions.filter((position) => position >= firsts.reads)
  const alike = drawn.filter((position) => sample.marks[position] === mostly)
  return { kind: "reads", position: typicalOf(alike.length ? alike : drawn, paths) ?? firsts.reads }
}

/**
 * The last of the positions whose answer arrives by most links, and by the same links as most of these do.
 *
 * @param {number[]} positions
 * @param {(Path | null)[]} paths
 */
function typicalOf(positions, paths) {
  const links = (/** @type {number} */ position) => (paths[position]?.readings ?? []).map(headName)
  const known = positions.map((position) => Number(paths[position]?.arrives ?? 0) + links(position).length)
  const most = positions.filter((_, at) => known[at] === Math.max(...known))
  const names = most.map((position) => links(position).join())
  const times = names.map((name) => names.filter((one) => one === name).length)
  return most[times.lastIndexOf(Math.max(...times))]
}

/**
 * How likely the right answer is after so many layers: at the wanted position if it is asked, else the mean over all
 * that are.
 *
 * @param {Pick<Readout, "rights">} readout
 * @param {Sample | undefined} sample
 * @param {At | null} wanted
 * @returns {(state: number) => number}
 */
export function rightAfter(readout, sample, wanted) {
  return (state) => {
    const row = readout.rights[state]
    if (!row || !sample) return NaN
    const answered = row.map((right, position) => sample.marks[position] == null ? null : right)
    const alone = wanted?.kind === "reads" ? answered[wanted.position] : null
    if (alone != null) return alone
    const known = answered.filter((right) => right != null)
    return known.reduce((sum, right) => sum + right, 0) / known.length
  }
}

/**
 * The arcs and the stretches of the streams that lead to a position.
 *
 * @param {Model} model
 * @param {Readout} readout
 * @param {At | null} chosen
 * @returns {{arcs: Arc[], streams: Stream[]}}
 */
export function leadingTo(model, readout, chosen) {
  if (!chosen || !readout.known) return { arcs: [], streams: [] }
  const { kind, position } = chosen
  const { firsts } = readout
  if (model.family === "cnn") {
    const reach = reachOf(model.layers, model.kernel, position, (layer) => readout.isAblated("layer", layer))
    return { ...reach, arcs: reach.arcs.filter(({ key }) => key >= firsts.reads) }
  }
  if (!model.heads) return { arcs: [], streams: [] }
  const of = (/** @type {Which} */ which) => model.kinds.includes(which) ? readout.weights(which) : null
  const weights = { self: of("self"), cross: of("cross"), encoder: of("encoder") }
  const { arcs, streams } = flowTo({ layers: model.layers, ...weights, skips: readout.skips }, {
    kind: kind === "source" ? "encoder" : "self",
    position: position - firsts[kind],
  })
  const first = (/** @type {boolean} */ source) => firsts[source ? "source" : "reads"]
  return { // from the drawn positions to those of the sequence
    arcs: arcs.map((arc) => ({
      ...arc,
      query: arc.query + first(arc.kind === "encoder"),
      key: arc.key + first(arc.kind !== "self"),
    })),
    streams: streams.map((stream) => ({ ...stream, position: stream.position + first(stream.kind === "encoder") })),
  }
}

/** The hops of the path of an answer, from the last down, between drawn positions. */
export function hopsOf(
  /** @type {number} */ layers,
  /** @type {Path | null} */ path,
  firsts = { reads: 0, source: 0 },
) {
  const hops = (path?.readings ?? []).map(({ which, layer, head, position, read, weight }, _, all) => {
    const above = all.find((one) => one.which === which && one.read === position && one.layer > layer)
    const first = !all.some((one) => one.position === read && one.layer < layer)
    return {
      kind: which,
      layer,
      head,
      query: position,
      key: read,
      share: 1,
      weight,
      upto: above?.layer ?? layers,
      first,
    }
  })
  return hops.filter(({ kind, query, key }) =>
    query >= firsts[kind === "encoder" ? "source" : "reads"] && key >= firsts[kind === "self" ? "reads" : "source"]
  )
}
