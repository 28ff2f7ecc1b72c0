// The position that the picture follows: what it reads, along which arcs, how likely its right answer is, and the
// numbers under the pointer.

import { arcAt } from "./curves.js"
import { flowTo, reachOf } from "./flow.js"
import { columnAt, firstsOf, heightOf } from "./layout.js"
import { headName } from "./seen.js"
import { exactPercent, percent, placeInWords, readingOf } from "./words.js"
import { number } from "../../../shell/script/dom.js"

/** @import { Arc, Hop, Stream } from "./flow.js" */
/** @import { Layout } from "./layout.js" */
/** @import { Seen } from "./seen.js" */
/** @import { At, Model, Path, Sample, Snapshot, Which } from "../types.d.ts" */

/**
 * The symbols of a sample that stand in that row.
 *
 * @param {Sample} sample
 * @param {At["kind"]} kind
 */
const symbolsOf = (sample, kind) => (kind === "source" ? sample.source : sample.tokens)

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
  if (wanted && wanted.place >= firsts[wanted.kind] && wanted.place < symbolsOf(sample, wanted.kind).length) {
    return wanted
  }
  const places = sample.marks.flatMap((mark, place) => mark == null ? [] : [place])
  const mostly = 2 * places.filter((place) => sample.marks[place]).length > places.length
  const drawn = places.filter((place) => place >= firsts.reads)
  const alike = drawn.filter((place) => sample.marks[place] === mostly)
  return { kind: "reads", place: typicalOf(alike.length ? alike : drawn, paths) ?? firsts.reads }
}

/**
 * The last of the places whose answer arrives by most links, and by the same links as most of these do.
 *
 * @param {number[]} places
 * @param {(Path | null)[]} paths
 */
function typicalOf(places, paths) {
  const links = (/** @type {number} */ place) => (paths[place]?.readings ?? []).map(headName)
  const known = places.map((place) => Number(paths[place]?.arrives ?? 0) + links(place).length)
  const most = places.filter((_, at) => known[at] === Math.max(...known))
  const names = most.map((place) => links(place).join())
  const times = names.map((name) => names.filter((one) => one === name).length)
  return most[times.lastIndexOf(Math.max(...times))]
}

/**
 * How likely the right answer is after so many layers: at the wanted position if it is asked, else the mean over all
 * that are.
 *
 * @param {Pick<Seen, "rights">} seen
 * @param {Sample | undefined} sample
 * @param {At | null} wanted
 * @returns {(state: number) => number}
 */
export function rightAfter(seen, sample, wanted) {
  return (state) => {
    const row = seen.rights[state]
    if (!row || !sample) return NaN
    const asked = row.map((right, place) => sample.marks[place] == null ? null : right)
    const alone = wanted?.kind === "reads" ? asked[wanted.place] : null
    if (alone != null) return alone
    const known = asked.filter((right) => right != null)
    return known.reduce((sum, right) => sum + right, 0) / known.length
  }
}

/**
 * The arcs and the stretches of the streams that lead to a position.
 *
 * @param {Model} model
 * @param {Seen} seen
 * @param {At | null} chosen
 * @returns {{arcs: Arc[], streams: Stream[]}}
 */
export function leadingTo(model, seen, chosen) {
  if (!chosen || !seen.known) return { arcs: [], streams: [] }
  const { kind, place } = chosen
  const { firsts } = seen
  if (model.family === "cnn") {
    const reach = reachOf(model.layers, model.kernel, place, (layer) => seen.cut("layer", layer))
    return { ...reach, arcs: reach.arcs.filter(({ key }) => key >= firsts.reads) }
  }
  if (!model.heads) return { arcs: [], streams: [] }
  const of = (/** @type {Which} */ which) => model.kinds.includes(which) ? seen.weights(which) : null
  const weights = { self: of("self"), cross: of("cross"), encoder: of("encoder") }
  const { arcs, streams } = flowTo({ layers: model.layers, ...weights, skips: seen.skips }, {
    kind: kind === "source" ? "encoder" : "self",
    place: place - firsts[kind],
  })
  const first = (/** @type {boolean} */ source) => firsts[source ? "source" : "reads"]
  return { // from the drawn positions to those of the sequence
    arcs: arcs.map((arc) => ({
      ...arc,
      query: arc.query + first(arc.kind === "encoder"),
      key: arc.key + first(arc.kind !== "self"),
    })),
    streams: streams.map((stream) => ({ ...stream, place: stream.place + first(stream.kind === "encoder") })),
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

/**
 * The sentence on what the chosen position reads in the last layer, or in the one head that is drawn, and the symbol
 * that it reads most.
 *
 * @param {{model: Model, seen: Seen, sample: Sample}} drawn
 * @param {At} chosen
 * @returns {{sentence: string, read: At | null}}
 */
export function readingIn({ model, seen, sample }, chosen) {
  if (!model.heads) {
    return { sentence: Object.values(model.parts).find(({ place }) => place === "row")?.says ?? "", read: null }
  }
  if (!seen.known) return { sentence: "", read: null }
  const { only } = seen
  const answers = model.kinds.includes("cross") ? "cross" : "self"
  const which = chosen.kind === "source" ? "encoder" : only && only.which !== "encoder" ? only.which : answers
  const alone = only?.which === which ? only : null
  const layer = alone?.layer ?? seen.places(which).findLastIndex((place) => place != null)
  const heads = alone ? `head ${alone.head + 1}` : model.heads > 1 ? "all heads" : ""
  const whose = [heads, model.layers > 1 ? `layer ${layer + 1}` : ""].filter(Boolean).join(" of ")
  const from = whose && ` (${whose})`
  const kind = which === "self" ? "reads" : "source"
  const own = symbolsOf(sample, chosen.kind).length
  const { sentence, key } = readingOf(chosen, seen.weights(which), layer, symbolsOf(sample, kind), {
    own,
    same: which !== "cross",
    from,
  })
  return { sentence, read: key == null ? null : { kind, place: key } }
}

/**
 * The numbers at a point of the picture: of the arc that passes there, else of the stream.
 *
 * @param {{model: Model, seen: Seen, sample?: Sample, arcs: Arc[], hops: Hop[]}} drawn
 * @param {Layout} layout
 * @param {number} x
 * @param {number} y
 * @returns {string} empty where there is nothing
 */
export function numbersAt({ model, seen, sample, arcs, hops }, layout, x, y) {
  if (!sample) return ""
  const named = (/** @type {At["kind"]} */ kind, /** @type {number} */ place) => {
    const all = symbolsOf(sample, kind)
    return `${placeInWords(place, all.length, "position")} “${all[place]}”`
  }
  const hop = arcAt(hops, layout, x, y)
  const arc = hop ?? arcAt(arcs, layout, x, y)
  if (arc) {
    const query = named(arc.kind === "encoder" ? "source" : "reads", arc.query)
    const key = named(arc.kind === "self" ? "reads" : "source", arc.key)
    const head = hop && model.heads > 1 ? `, head ${hop.head + 1}` : ""
    const reads = `Layer ${arc.layer + 1}${head}: ${query} reads ${key}`
    return Number.isFinite(arc.weight) ? `${reads}, ${percent(arc.weight)}` : reads
  }
  const { kind, place } = columnAt(layout, x)
  const state = Math.round((heightOf(layout, 0) - y) / (layout.row + layout.strip))
  const norm = seen.norms(kind === "source" ? "encoder" : "self")[state]?.[place]
  if (norm == null || state > model.layers) return ""
  const right = kind === "reads" && sample.marks[place] != null ? seen.rights[state]?.[place] : null
  const where = state ? `After layer ${state}` : "Before the first layer"
  const likely = right == null ? "" : `; the right answer has ${exactPercent(right)}`
  return `${where}, ${named(kind, place)}: a vector of length ${number(norm)}, as thick as the bar${likely}`
}
