// What the picture shows of a snapshot: the model of the picture may have parts that the snapshot's model lacks.

import { placesOf, statesOf, weightsOf } from "./weights.js"

export const LETTERS = { self: "", encoder: "e", cross: "c" } // before a layer's number in the names of parts
const LAYERED = { skip: "skip", norm: "norm", mlp: "mlp", layer: "layer", cell: "layer" }

/**
 * A snapshot as the picture needs it.
 *
 * @param {Object} model
 * @param {Object | undefined} snapshot
 * @param {{without: string[], only: {which: string, layer: number, head: number} | null}} look the names of the parts
 *   that were taken away from the snapshot's model; the one head whose arcs are drawn
 * @returns {Object} `known`: whether the snapshot is one of this model; `cut`, `skips`, `places`, `grid`, `weights`,
 *   `norms`, `rights`
 */
export function seenIn(model, snapshot, { without, only }) {
  const away = new Set(without)
  const passes = ["gru", "lstm"].includes(model.family) // nothing is carried past their layers
  const stackOf = (which) => (which === "encoder" ? "e" : "")
  const gone = (which) => (layer) => away.has(`layer.${stackOf(which)}${layer}`)
  const places = (which) => placesOf(model.layers, gone(which))
  const there = (which) => places(which).filter((place) => place != null).length
  const fits = (which) => {
    const grid = snapshot.patterns[which]
    return grid ? grid.shape[0] === there(which) && grid.shape[1] === model.heads : there(which) === 0
  }
  const states = snapshot?.residual?.norm?.length
  const known = Boolean(snapshot) && model.kinds.every(fits) && (states == null || states === there("self") + 1)
  const grid = (which) => (known && which ? snapshot.patterns[which] : null)

  const cut = (kind, layer, head) => {
    const [part, which = "self"] = kind.split(".")
    if (part === "head") return away.has(`head.${LETTERS[which]}${layer}.${head}`)
    if (LAYERED[part]) return model.stacks.some(({ prefix }) => away.has(`${LAYERED[part]}.${prefix}${layer}`))
    return away.has(part)
  }
  const skips = (which, layer) =>
    passes || gone(which)(layer) || (model.skips && !away.has(`skip.${stackOf(which)}${layer}`))

  const weights = (which) => {
    if (!grid(which)) return null
    const alone = only?.which === which ? only : null
    const off = (layer, head) => cut(`head.${which}`, layer, head)
    const kept = (snapshot.flowing ??= new Map())
    const name = JSON.stringify([which, alone, without.filter((part) => /^(head|layer)/.test(part))])
    if (!kept.has(name)) kept.set(name, weightsOf(snapshot, which, places(which), { only: alone, off }))
    return kept.get(name)
  }
  const residual = (name, which) => (known ? statesOf(snapshot.residual?.[name], places(which)) : [])
  return {
    known,
    only,
    cut,
    skips,
    places,
    grid,
    weights,
    norms: (which) => (which === "encoder" ? residual("encoder", "encoder") : residual("norm", "self")),
    rights: residual("right", "self"),
    right: () => NaN,
  }
}
