// The lines of the picture as elements: the streams, the arcs of the chosen position, and a point for it. The elements
// are kept.

import { arcLines, carriedLines, hopLines, passedOn, streamLines } from "./curves.js"
import { heightOf, xOf } from "./layout.js"
import { drawing } from "../../../shell/script/dom.js"

/** @import { Line, Stack } from "./curves.js" */
/** @import { Arc, Hop, Stream } from "./flow.js" */
/** @import { Layout } from "./layout.js" */
/** @import { At } from "../types.d.ts" */

/**
 * What the lines are drawn from: the stacks, what leads to the chosen position, the hops of its answer, and of a recurrent
 * model the layers that are gone and the number of positions.
 *
 * @typedef {{stacks: Stack[], arcs: Arc[], streams: Stream[], hops: Hop[], chosen: At | null, recurrent: boolean,
 *   gone: (layer: number) => boolean, positions: number}} Lines
 */

const LINES =
  "Grey bars: each position's vector, thicker where it is longer. Blue arcs: what the chosen position reads; strong ones: how its answer arises."

/** The drawing of the lines. */
export function pathsDrawing() {
  const group = (/** @type {string} */ name) => drawing("g", { class: name })
  const groups = { streams: group("streams"), carried: group("carried"), arcs: group("arcs"), hops: group("hops") }
  const [cut, above, passes, passed] = ["cut-stream", "dim-stream", "passes", "passed"].map((name) =>
    drawing("path", { class: name })
  )
  const point = drawing("circle", { class: "chosen-point", r: 3.5 })
  const root = drawing(
    "svg",
    { class: "paths", role: "img", "aria-label": LINES },
    groups.streams,
    above,
    cut,
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
  const draw = (/** @type {Layout} */ layout, /** @type {Lines} */ told) => {
    const { stacks, arcs, streams, hops, chosen, recurrent, gone, positions } = told
    root.setAttribute("width", `${layout.width}`)
    root.setAttribute("height", `${layout.height}`)
    const lines = streamLines(layout, stacks)
    put(groups.streams, lines.whole)
    cut.setAttribute("d", lines.cut)
    above.setAttribute("d", lines.above)
    put(groups.carried, carriedLines(streams, layout))
    put(groups.arcs, arcLines(arcs, layout))
    put(groups.hops, hopLines(hops, layout))
    root.classList.toggle("traced", hops.length > 0)
    passes.setAttribute("d", recurrent && positions ? passedOn(layout, positions - 1, gone) : "")
    passed.setAttribute("d", recurrent && chosen ? passedOn(layout, chosen.place, gone) : "")
    point.setAttribute("visibility", chosen ? "visible" : "hidden")
    if (!chosen) return
    point.setAttribute("cx", `${xOf(layout, chosen.kind, chosen.place)}`)
    point.setAttribute("cy", `${heightOf(layout, layout.layers)}`)
  }
  return { root, draw }
}
