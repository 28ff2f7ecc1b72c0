// What the picture shows of a snapshot: the model of the picture may have parts that the snapshot's model lacks.

import { placesOf, statesOf, weightsOf } from "./weights.js"

/** @import { StackKind } from "./flow.js" */
/** @import { Weights } from "./weights.js" */
/** @import { At, Grid, Head, Model, Path, Snapshot, Which } from "../types.d.ts" */

/** What stands before a layer's number in the names of parts. */
const LETTERS = { self: "", encoder: "e", cross: "c" }

/** The name of a head among the parts of the model. */
export const headName = (/** @type {Head} */ { which, layer, head }) => `head.${LETTERS[which]}${layer}.${head}`

/**
 * @typedef {Object} Seen a snapshot as the picture needs it
 * @property {boolean} known whether the snapshot is one of this model
 * @property {Head | null} only the one head whose arcs are drawn
 * @property {(name: string, layer?: number | null) => boolean} cut whether a part is taken away, by the name under which
 *   it can be; of a layer's parts in any stack
 * @property {(head: Head) => boolean} headCut whether a head is taken away
 * @property {(which: StackKind, layer: number) => boolean} skips whether the stream is carried past a layer
 * @property {(which: Which) => (number | null)[]} places the place in the snapshot of each layer; null for one that is
 *   gone
 * @property {(which: Which) => Grid | null} grid
 * @property {(which: Which) => Weights | null} weights
 * @property {(which: StackKind) => ((number | null)[] | undefined)[]} norms of the streams after each layer
 * @property {((number | null)[] | undefined)[]} rights how likely each right answer is after each layer
 * @property {(at: At | null) => Path | null} path of the answer at a position; null where it is not known, and where one
 *   head alone is drawn
 */

/**
 * A snapshot as the picture needs it.
 *
 * @param {Model} model
 * @param {Pick<Snapshot, "patterns" | "means" | "residual" | "paths" | "flowing"> | undefined} snapshot
 * @param {{without: string[], only: Head | null}} look the names of the parts
 *   that were taken away from the snapshot's model; the one head whose arcs are drawn
 * @returns {Seen}
 */
export function seenIn(model, snapshot, { without, only }) {
  const away = new Set(without)
  const passes = ["gru", "lstm"].includes(model.family) // nothing is carried past their layers
  const stackOf = (/** @type {Which} */ which) => (which === "encoder" ? "e" : "")
  const gone = (/** @type {Which} */ which) => (/** @type {number} */ layer) =>
    away.has(`layer.${stackOf(which)}${layer}`)
  const places = (/** @type {Which} */ which) => placesOf(model.layers, gone(which))
  const there = (/** @type {Which} */ which) => places(which).filter((place) => place != null).length
  const fits = (/** @type {Which} */ which) => {
    const grid = snapshot?.patterns[which]
    return grid ? grid.shape[0] === there(which) && grid.shape[1] === model.heads : there(which) === 0
  }
  const states = snapshot?.residual?.norm?.length
  const known = model.kinds.every(fits) && (states == null || states === there("self") + 1) ? snapshot : undefined
  /** @type {Seen["grid"]} */
  const grid = (which) => known?.patterns[which] ?? null

  /** @type {Seen["cut"]} */
  const cut = (name, layer = null) =>
    layer == null ? away.has(name) : model.stacks.some(({ prefix }) => away.has(`${name}.${prefix}${layer}`))
  /** @type {Seen["headCut"]} */
  const headCut = (head) => away.has(headName(head))
  /** @type {Seen["skips"]} */
  const skips = (which, layer) =>
    passes || gone(which)(layer) || (model.skips && !away.has(`skip.${stackOf(which)}${layer}`))

  const weights = (/** @type {Which} */ which) => {
    if (!known || !grid(which)) return null
    const alone = only?.which === which ? only : null
    const off = (/** @type {number} */ layer, /** @type {number} */ head) => headCut({ which, layer, head })
    const kept = (known.flowing ??= new Map())
    const name = JSON.stringify([which, alone, without.filter((part) => /^(head|layer)/.test(part))])
    const found = kept.get(name) ?? weightsOf(known, which, places(which), { only: alone, off })
    if (found) kept.set(name, found)
    return found
  }
  const residual = (
    /** @type {string} */ name,
    /** @type {Which} */ which,
  ) => (known ? statesOf(known.residual?.[name], places(which)) : [])
  /** @type {Seen["path"]} */
  const path = (at) => {
    const found = only || at?.kind !== "reads" ? null : known?.paths?.[at.place]
    if (!found) return null
    const layerOf = (/** @type {Which} */ which, /** @type {number} */ layer) => places(which).indexOf(layer)
    const readings = found.readings.map((one) => ({ ...one, layer: layerOf(one.which, one.layer) }))
    return { ...found, layer: layerOf("self", found.layer), readings }
  }
  return {
    known: Boolean(known),
    only,
    cut,
    headCut,
    skips,
    places,
    grid,
    weights,
    norms: (which) => (which === "encoder" ? residual("encoder", "encoder") : residual("norm", "self")),
    rights: residual("right", "self"),
    path,
  }
}
