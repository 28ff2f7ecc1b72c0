// The lines of the picture: the streams, the arcs of the position that is followed, the path of its answer. Lines of one
// thickness are one path, so that few elements are drawn; the elements are kept.

import { heightOf, xOf } from "./layout.js"
import { headName } from "./weights.js"
import { drawing } from "../../../base/script/dom.js"

/** @import { Layout } from "./layout.js" */
/** @import { Arc, Hop, Stream } from "./weights.js" */
/** @import { At } from "../types.d.ts" */

const CLASSES = 6 // thicknesses of streams, and of arcs

/** @typedef {{d: string, width: number, opacity: number, name?: string}} Line `name`: the part along which it leads */

/**
 * The kinds of the positions that an arc leads from and to.
 *
 * @type {Record<Arc["kind"], [At["kind"], At["kind"]]>}
 */
const ENDS = { self: ["reads", "reads"], encoder: ["source", "source"], cross: ["source", "reads"] }

const round = (/** @type {number} */ value) => Math.round(value * 10) / 10

/**
 * The ends of an arc: the position that is read, below, and the one that reads. Cross-attention reads the encoder's last
 * layer.
 */
function endsOf(/** @type {Arc} */ { kind, layer, query, key }, /** @type {Layout} */ layout) {
  const y1 = heightOf(layout, layer + 1)
  const [read, reads] = ENDS[kind]
  const y0 = kind === "cross" ? heightOf(layout, layout.layers) : y1 + layout.row
  return { x0: xOf(layout, read, key), y0, x1: xOf(layout, reads, query), y1 }
}

/**
 * The inner points of an arc: it leaves and arrives upright; one that stands upright is bowed, one between stacks
 * arrives from above.
 */
function bend(/** @type {Arc} */ arc, /** @type {Layout} */ layout) {
  const ends = endsOf(arc, layout)
  const { x0, y0, x1, y1 } = ends
  if (arc.kind === "cross") return { ...ends, a: [x0, y0 - 14], b: [x1, y1 - 14] }
  if (x0 === x1) {
    const bow = Math.min(0.7 * layout.pitch, 9)
    return { ...ends, a: [x0 + bow, y0 - (y0 - y1) / 3], b: [x0 + bow, y1 + (y0 - y1) / 3] }
  }
  return { ...ends, a: [x0, (y0 + y1) / 2], b: [x1, (y0 + y1) / 2] }
}

/** An arc as the text of a path. */
function arcText(/** @type {Arc} */ arc, /** @type {Layout} */ layout) {
  const { x0, y0, x1, y1, a, b } = bend(arc, layout)
  const [from, ...to] = [[x0, y0], a, b, [x1, y1]].map((point) => point.map(round).join(" "))
  return `M${from}C${to.join(" ")}`
}

/**
 * The hops of an answer, each a line of its own: its arc, and the stretches of the stream that carry it there and on.
 */
export const hopLines = (/** @type {Hop[]} */ hops, /** @type {Layout} */ layout) =>
  hops.map((hop) => {
    const { x0, y0 } = endsOf(hop, layout)
    const risen = hop.first ? `M${round(x0)} ${round(layout.height)}V${round(y0)}` : ""
    const name = headName({ which: hop.kind, layer: hop.layer, head: hop.head })
    return {
      d: `${arcText(hop, layout)}V${round(heightOf(layout, hop.upto))}${risen}`,
      width: 3.4,
      opacity: 0.95,
      name,
    }
  })

/** All arcs, by thickness: the stronger, the thicker and darker. */
function arcLines(/** @type {Arc[]} */ arcs, /** @type {Layout} */ layout) {
  const most = Math.max(...arcs.map(({ share }) => share), 1e-9)
  const texts = Array.from({ length: CLASSES }, () => /** @type {string[]} */ ([]))
  for (const arc of arcs) {
    const share = Number.isFinite(arc.weight) ? arc.share / most : 0.2 // all alike where there are no weights
    const at = Math.min(CLASSES - 1, Math.floor(CLASSES * Math.sqrt(share)))
    texts[at].push(arcText(arc, layout))
  }
  return texts.map((parts, at) => {
    const strength = (at + 1) / CLASSES
    return { d: parts.join(""), width: 0.6 + 3.4 * strength, opacity: 0.12 + 0.83 * strength ** 1.5 }
  })
}

/**
 * What is drawn of a stack: how many positions, the last ones, the norms of its streams after each layer, and whether the skip
 * connection of a layer is ablated.
 *
 * @typedef {{kind: At["kind"], count: number, norms: ((number | null)[] | undefined)[],
 *   isSkipAblated: (layer: number) => boolean}} Stack
 */

/**
 * The streams as upright lines, by thickness, which is their norm; those past an ablated skip connection and above it apart.
 *
 * @param {Layout} layout
 * @param {Stack[]} stacks
 * @returns {{whole: Line[], ablated: string, above: string}}
 */
export function streamLines(layout, stacks) {
  const most = Math.max(
    ...stacks.flatMap(({ norms }) => norms.flatMap((row) => (row ?? []).map((norm) => norm ?? 0))),
    1e-9,
  )
  const thickest = Math.max(1.2, Math.min(6, 0.55 * layout.pitch))
  const texts = Array.from({ length: CLASSES }, () => /** @type {string[]} */ ([]))
  /** @type {string[][]} */
  const [ablatedTexts, aboveTexts] = [[], []]
  for (const { kind, count, norms, isSkipAblated } of stacks) {
    let dark = false
    /** Draw lines between two heights, by their norms; `into` takes them whatever these are. */
    const each = (
      /** @type {[number, number]} */ [below, above],
      /** @type {(number | null)[] | null | undefined} */ row,
      /** @type {string[] | undefined} */ into = undefined,
    ) => {
      const first = layout.firsts[kind]
      for (let position = first; position < first + count; position++) {
        const norm = row?.[position]
        const at = norm == null ? 1 : Math.min(CLASSES - 1, Math.floor((CLASSES * norm) / most))
        ;(into ?? texts[at]).push(`M${round(xOf(layout, kind, position))} ${round(below)}V${round(above)}`)
      }
    }
    each([layout.height, heightOf(layout, 0)], norms[0])
    for (let layer = 0; layer < layout.layers; layer++) {
      const [below, above] = [heightOf(layout, layer), heightOf(layout, layer + 1)]
      const middle = (below + above) / 2 // where the layer adds to the stream
      if (isSkipAblated(layer)) each([below, above], null, ablatedTexts)
      else if (dark) each([below, above], null, aboveTexts)
      else {
        each([below, middle], norms[layer])
        each([middle, above], norms[layer + 1])
      }
      dark ||= isSkipAblated(layer)
    }
    each([layout.top, Math.max(0, layout.top - 8)], norms[layout.layers], dark ? aboveTexts : undefined)
  }
  const whole = texts.map((parts, at) => ({
    d: parts.join(""),
    width: 0.6 + ((at + 0.5) / CLASSES) * (thickest - 0.6),
    opacity: 1,
  }))
  return { whole, ablated: ablatedTexts.join(""), above: aboveTexts.join("") }
}

/** The stretches of the streams that carry something to the chosen position, by thickness. */
function carriedLines(/** @type {Stream[]} */ streams, /** @type {Layout} */ layout) {
  /** @type {string[][]} */
  const texts = [[], [], []]
  for (const { kind, layer, position, share } of streams) {
    if (share < 0.02) continue
    const x = round(xOf(layout, kind === "encoder" ? "source" : "reads", position))
    texts[share > 0.4 ? 2 : share > 0.12 ? 1 : 0].push(
      `M${x} ${round(heightOf(layout, layer))}V${round(heightOf(layout, layer + 1))}`,
    )
  }
  return texts.map((parts, at) => ({ d: parts.join(""), width: 1.2 + 1.1 * at, opacity: 0.3 + 0.3 * at }))
}

/**
 * A line from left to right in each layer of a recurrent model, from the first position to one; it ends in an arrow
 * head.
 *
 * @param {Layout} layout
 * @param {number} upto the last position
 * @param {(layer: number) => boolean} isLayerAblated
 */
function passedOn(layout, upto, isLayerAblated) {
  return Array.from({ length: layout.layers }, (_, layer) => {
    if (isLayerAblated(layer)) return ""
    const y = round(heightOf(layout, layer + 1) + layout.row / 2)
    const [from, to] = [layout.firsts.reads, upto].map((position) => round(xOf(layout, "reads", position)))
    return `M${from} ${y}H${to}M${to - 5} ${y - 3}L${to} ${y}L${to - 5} ${y + 3}`
  }).join("")
}

/**
 * The arc that passes a point within a few pixels, or null.
 *
 * @template {Arc} One
 * @param {One[]} arcs
 * @param {Layout} layout
 * @param {number} x
 * @param {number} y
 * @returns {One | null}
 */
export function arcAt(arcs, layout, x, y) {
  /** @type {One | null} */
  let found = null
  let nearest = 7
  for (const arc of arcs) {
    const { x0, y0, x1, y1, a, b } = bend(arc, layout)
    if (x < Math.min(x0, x1, a[0]) - 7 || x > Math.max(x0, x1, a[0]) + 7 || y > y0 + 7) continue
    for (let step = 0; step <= 14; step++) {
      const [t, u] = [step / 14, 1 - step / 14]
      const along = (/** @type {number[]} */ [p0, p1, p2, p3]) =>
        u ** 3 * p0 + 3 * u * u * t * p1 + 3 * u * t * t * p2 + t ** 3 * p3
      const distance = Math.hypot(along([x0, a[0], b[0], x1]) - x, along([y0, a[1], b[1], y1]) - y)
      if (distance < nearest) [found, nearest] = [arc, distance]
    }
  }
  return found
}

/**
 * What the lines are drawn from: the stacks, what leads to the chosen position, the hops of its answer, and of a recurrent
 * model the ablated layers and the number of positions.
 *
 * @typedef {{stacks: Stack[], arcs: Arc[], streams: Stream[], hops: Hop[], chosen: At | null, recurrent: boolean,
 *   isLayerAblated: (layer: number) => boolean, positions: number}} Lines
 */

const LINES =
  "Grey bars: the vector of each position, thicker if longer. Blue arcs: what the chosen position reads. Strong arcs lead to its answer."

/** The drawing of the lines. */
export function pathsDrawing() {
  const group = (/** @type {string} */ name) => drawing("g", { class: name })
  const groups = { streams: group("streams"), carried: group("carried"), arcs: group("arcs"), hops: group("hops") }
  const [ablated, above, passes, passed] = ["ablated-stream", "dim-stream", "passes", "passed"].map((name) =>
    drawing("path", { class: name })
  )
  const point = drawing("circle", { class: "chosen-point", r: 3.5 })
  const root = drawing(
    "svg",
    { class: "paths", role: "img", "aria-label": LINES },
    groups.streams,
    above,
    ablated,
    passes,
    groups.carried,
    groups.arcs,
    groups.hops,
    passed,
    point,
  )

  /** One path for each line; those that are left over are emptied. */
  const put = (/** @type {SVGElement} */ into, /** @type {Line[]} */ lines) => {
    while (into.children.length < lines.length) into.append(drawing("path"))
    ;[...into.children].forEach((path, at) => {
      const { d, width, opacity, name } = lines[at] ?? { d: "", width: 1, opacity: 1 }
      if (into === groups.hops) path.setAttribute("data-name", name ?? "")
      path.setAttribute("d", d)
      path.setAttribute("stroke-width", width.toFixed(2))
      path.setAttribute("stroke-opacity", opacity.toFixed(2))
    })
  }
  const draw = (/** @type {Layout} */ layout, /** @type {Lines} */ content) => {
    const { stacks, arcs, streams, hops, chosen, recurrent, isLayerAblated, positions } = content
    root.setAttribute("width", `${layout.width}`)
    root.setAttribute("height", `${layout.height}`)
    const lines = streamLines(layout, stacks)
    put(groups.streams, lines.whole)
    ablated.setAttribute("d", lines.ablated)
    above.setAttribute("d", lines.above)
    put(groups.carried, carriedLines(streams, layout))
    put(groups.arcs, arcLines(arcs, layout))
    put(groups.hops, hopLines(hops, layout))
    root.classList.toggle("traced", hops.length > 0)
    passes.setAttribute("d", recurrent && positions ? passedOn(layout, positions - 1, isLayerAblated) : "")
    passed.setAttribute("d", recurrent && chosen ? passedOn(layout, chosen.position, isLayerAblated) : "")
    point.setAttribute("visibility", chosen ? "visible" : "hidden")
    if (!chosen) return
    point.setAttribute("cx", `${xOf(layout, chosen.kind, chosen.position)}`)
    point.setAttribute("cy", `${heightOf(layout, layout.layers)}`)
  }
  return { root, draw }
}
