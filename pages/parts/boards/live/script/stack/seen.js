// What the picture shows of a snapshot: the model of the picture may have parts that the snapshot's model lacks.

import { firstsOf } from "./layout.js"
import { placesOf, statesOf, weightsOf } from "./weights.js"

/** @import { StackKind } from "./flow.js" */
/** @import { At, Head, Model, Snapshot, Which } from "../types.d.ts" */

/** What stands before a layer's number in the names of parts. */
const LETTERS = { self: "", encoder: "e", cross: "c" }

/** The name of a head among the parts of the model. */
export const headName = (/** @type {Head} */ { which, layer, head }) => `head.${LETTERS[which]}${layer}.${head}`

/** @typedef {ReturnType<typeof seenIn>} Seen */

/**
 * A snapshot as the picture needs it; `known` is whether it is one of this model.
 *
 * @param {Model} model
 * @param {Pick<Snapshot, "patterns" | "means" | "residual" | "paths" | "flowing"> & Partial<Pick<Snapshot, "samples">>
 *   | undefined} snapshot
 * @param {{without: string[], only: Head | null}} look the names of the parts
 *   that were taken away from the snapshot's model; the one head whose arcs are drawn
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
  const grid = (/** @type {Which} */ which) => known?.patterns[which] ?? null

  /** Whether a part is taken away, by the name under which it can be; of a layer's parts in any stack. */
  const cut = (/** @type {string} */ name, /** @type {number | null} */ layer = null) =>
    layer == null ? away.has(name) : model.stacks.some(({ prefix }) => away.has(`${name}.${prefix}${layer}`))
  const headCut = (/** @type {Head} */ head) => away.has(headName(head))
  /** Whether the stream is carried past a layer. */
  const skips = (/** @type {StackKind} */ which, /** @type {number} */ layer) =>
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
  /** The path of the answer at a position; null where it is not known, and where one head alone is drawn. */
  const path = (/** @type {At | null} */ at) => {
    const found = only || at?.kind !== "reads" ? null : known?.paths?.[at.place]
    if (!found) return null
    const layerOf = (/** @type {Which} */ which, /** @type {number} */ layer) => places(which).indexOf(layer)
    const readings = found.readings.map((one) => ({ ...one, layer: layerOf(one.which, one.layer) }))
    return { ...found, layer: layerOf("self", found.layer), readings }
  }
  return {
    known: Boolean(known),
    only,
    firsts: firstsOf(snapshot?.samples?.[0]),
    cut,
    headCut,
    skips,
    places,
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
