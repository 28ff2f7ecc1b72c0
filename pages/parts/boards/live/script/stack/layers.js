// The parts of the model at the sides of the picture, as buttons: those of each layer, its heads and its bars, and
// those above and below.

import { valuesOf } from "../data.js"
import { rovingFocus } from "./controls.js"
import { heightOf } from "./layout.js"
import { headName } from "./weights.js"
import { exactPercent } from "./words.js"
import { drawing, el, number, toRgb } from "../../../base/script/dom.js"

/** @import { Layout } from "./layout.js" */
/** @import { Readout } from "./weights.js" */
/** @import { Theme } from "../../../base/script/types.d.ts" */
/** @import { Column, Grid, Head, LiveBoard, Model, Part, PartAt, Which } from "../types.d.ts" */

const HEADINGS = {
  streams: "Each grey bar is the vector of one position.",
  "right answer": "Probability of the right answer, if the model ended after this layer.",
  gradient: "Gradient of this layer, relative to the largest, on a logarithmic scale.",
}

const PATTERN = "attention: row (query) reads column (key)"

/**
 * What is seen, how likely the right answer is after so many layers, and in which layer it arrives, if it is known.
 *
 * @typedef {Readout & {right: (state: number) => number, arrives: number | null}} ReadoutRight
 */

/**
 * The parts of a model, built anew by `build` and brought up to date by `draw`.
 *
 * @param {(at: PartAt, node: HTMLElement) => void} onPart a part was clicked
 * @param {(head: Head) => void} onLarge a head was clicked twice
 */
export function modelParts(onPart, onLarge) {
  const root = el("div", { class: "parts" })
  const curve = lossCurve()
  const partFocus = rovingFocus(root, ".part")
  const headFocus = rovingFocus(root, ".tile")
  /** @type {{line: HTMLElement, tiles: HTMLElement[], right: Meter, gradient: Meter, columns: string[]}[]} */
  let layers = [] // `columns`: the names of the lines of its gradients
  /** @type {Record<string, HTMLElement[]>} */
  let named = {}
  /** @type {{above: HTMLElement, below: HTMLElement, begin: Meter}} */
  let ends

  root.onclick = ({ target }) => {
    const node = /** @type {Element} */ (target).closest(".part, .tile")
    if (node instanceof HTMLElement) onPart(partAt(node), node)
  }
  root.ondblclick = ({ target }) => {
    const node = /** @type {Element} */ (target).closest(".tile")
    if (node instanceof HTMLElement) onLarge(headAt(node))
  }

  /** The button of a part. */
  const partButton = (
    /** @type {string} */ kind,
    /** @type {Part} */ { label, slot, says, takes, title },
    /** @type {number | null} */ layer,
  ) => {
    const [word, rest] = label.split("{layer}") // on a narrow screen the number alone
    const words = rest == null ? [label] : [el("span", { class: "word" }, word), `${(layer ?? 0) + 1}${rest}`]
    const node = el(
      "button",
      {
        type: "button",
        class: `part ${kind} at-${slot}`,
        tabindex: -1,
        "data-part": kind,
        "data-layer": layer,
        "data-name": takes && (layer == null ? takes : `${takes}.${layer}`),
        "aria-expanded": false,
        "aria-label": `${title.replace("{layer}", layer == null ? "" : `${layer + 1}`)}. ${says}`,
        title: says,
      },
      ...words,
    )
    ;(named[kind] ??= []).push(node)
    return node
  }
  const heading = (/** @type {keyof typeof HEADINGS} */ text, /** @type {string} */ name) =>
    el("span", { class: `heading ${name}`, title: HEADINGS[text] }, text)
  const box = (/** @type {string} */ name, /** @type {Node[]} */ ...nodes) => el("div", { class: name }, ...nodes)

  /** The rows of parts for a model, from the output down to the embedding. */
  const build = (/** @type {Model} */ model) => {
    /** What a model without controls does not have. */
    const further = (/** @type {Node[]} */ ...nodes) => model.controls ? nodes : []
    /** The buttons of the parts that stand in a slot, in the order of their table. */
    const partsAt = (/** @type {Part["slot"]} */ slot, /** @type {number | null} */ layer = null) =>
      Object.entries(model.parts).flatMap(([kind, part]) => part.slot === slot ? [partButton(kind, part, layer)] : [])
    named = {}
    layers = Array.from({ length: model.layers }, (_, layer) => {
      const tiles = model.kinds.flatMap((kind) =>
        Array.from({ length: model.heads }, (_, head) => headTile(kind, layer, head))
      )
      const [right, gradient] = [meter("right"), meter("gradient")]
      const line = box(
        "line layer-row",
        box("side", ...partsAt("row", layer), ...further(...partsAt("layer", layer))),
        box("between"),
        box("tiles", ...tiles, el("span", { class: "legend", "aria-hidden": true }, PATTERN)),
        right.root,
        ...further(gradient.root),
      )
      line.dataset.layer = `${layer}`
      const columns = model.stacks.map(({ prefix }) => `grad_norms.${prefix}${model.gradients[layer]}.total`)
      return { line, tiles, right, gradient, columns }
    })
    const begin = meter("right")
    const above = box(
      "line above",
      box("side", ...further(...partsAt("output"), curve.root)),
      box("between", ...further(heading("streams", "stream"))),
      box("tiles", ...further(...partsAt("heads"))),
      ...further(heading("right answer", "right"), heading("gradient", "gradient")),
    )
    const below = box(
      "line below",
      box("side", ...further(...partsAt("input"))),
      box("between"),
      box("tiles"),
      ...further(begin.root),
    )
    ends = { above, below, begin }
    root.replaceChildren(above, ...layers.map(({ line }) => line).reverse(), below)
    partFocus.refresh()
    headFocus.refresh()
  }

  /** Place the rows, and fill tiles and bars. */
  const draw = (
    /** @type {Layout} */ layout,
    /** @type {Model} */ model,
    /** @type {ReadoutRight} */ readout,
    /** @type {LiveBoard} */ board,
  ) => {
    const { above, below, begin } = ends
    const put = (/** @type {HTMLElement} */ line, /** @type {number} */ top, /** @type {number} */ height) =>
      Object.assign(line.style, { top: `${top}px`, height: `${height}px` })
    put(above, 0, layout.wide ? layout.top : layout.top - 8) // on a narrow screen the streams end below it
    put(below, layout.height - layout.foot, layout.foot)
    layers.forEach(({ line }, layer) => {
      const top = heightOf(layout, layer + 1)
      put(line, layout.wide ? top : top + layout.row, layout.wide ? layout.row : layout.strip)
    })
    const { theme } = board
    for (const { tiles } of layers) {
      for (const tile of tiles) {
        const { which, layer, head } = headAt(tile)
        const grid = readout.grid(which)
        const index = grid && readout.indices(which)[layer]
        drawTile(tile, index == null ? null : grid, index == null ? 0 : index * model.heads + head, theme)
        tile.classList.toggle("coarse", layout.tile >= 2 * (grid?.shape[3] ?? Infinity))
        tile.classList.toggle("ablated", readout.isHeadAblated({ which, layer, head }))
        const alone = readout.only?.which === which && readout.only.layer === layer && readout.only.head === head
        tile.setAttribute("aria-pressed", `${alone}`)
      }
    }
    for (const [kind, nodes] of Object.entries(named)) {
      const { takes, off, fault } = model.parts[kind]
      for (const node of nodes) {
        node.classList.toggle("ablated", readout.isAblated(takes, partAt(node).layer))
        node.classList.toggle("off", off)
        node.classList.toggle("fault", fault)
      }
    }
    layers.forEach(({ line, right }, layer) => {
      line.classList.toggle("ablated", readout.isAblated("layer", layer))
      line.classList.toggle("arrives", layer === readout.arrives)
      fillShare(right, readout.right(layer + 1), `after layer ${layer + 1}`)
    })
    fillShare(begin, readout.right(0), "before the first layer")
    const norms = layers.map(({ columns }) =>
      model.controls && readout.known ? columns.map((name) => lastOf(board.column(name))) : []
    )
    const largest = Math.max(...norms.flat().map((norm) => norm ?? 0), 1e-30)
    root.classList.toggle("even", !gradientsDiffer(norms))
    layers.forEach(({ gradient }, layer) => fillGradient(gradient, norms[layer], largest))
    const [steps, losses] = readout.known ? board.column("validation.loss") : [[], []]
    curve.draw(steps, losses, board.status.steps)
  }
  return { root, build, draw }
}

/** The part that a button stands for. */
function partAt(/** @type {HTMLElement} */ node) {
  const { part, layer } = node.dataset
  return {
    kind: part ?? "head",
    layer: layer == null ? null : Number(layer),
    head: part ? null : headAt(node),
  }
}

/** The head that a tile stands for. */
function headAt(/** @type {HTMLElement} */ { dataset: { kind, layer, head } }) {
  return { which: /** @type {Which} */ (kind), layer: Number(layer), head: Number(head) }
}

/** The last value of a line. */
function lastOf(/** @type {Column} */ [steps, values]) {
  return steps.length ? values[values.length - 1] : null
}

/** @type {WeakMap<HTMLElement, {grid: Grid | null, index: number, theme: string}>} what each tile shows */
const drawnOn = new WeakMap()

/**
 * A head as a button; its picture is drawn later.
 *
 * @param {Which} kind
 * @param {number} layer
 * @param {number} head
 * @returns {HTMLButtonElement}
 */
function headTile(kind, layer, head) {
  const which = { self: "", encoder: "encoder, ", cross: "reading the encoder, " }[kind]
  const name = `${which}layer ${layer + 1}, head ${head + 1}`
  return el(
    "button",
    {
      type: "button",
      class: `tile ${kind}`,
      tabindex: -1,
      title: `${name}, ${PATTERN}`,
      "aria-label": `Attention of ${name}`,
      "aria-pressed": false,
      "data-name": headName({ which: kind, layer, head }),
      "data-kind": kind,
      "data-layer": layer,
      "data-head": head,
    },
    el("canvas", { width: 1, height: 1, "aria-hidden": true }),
  )
}

/**
 * Draw a head's matrix: the stronger a weight, the less transparent its cell, by its root, so that weak ones are seen
 * too.
 *
 * @param {HTMLElement} tile
 * @param {Grid | null} grid [layer, head, query, key]
 * @param {number} index the head's index among all heads
 * @param {Theme} theme
 */
function drawTile(tile, grid, index, theme) {
  const drawn = drawnOn.get(tile)
  if (drawn && drawn.grid === grid && drawn.index === index && drawn.theme === theme.name) return
  drawnOn.set(tile, { grid, index, theme: theme.name })
  const [rows, columns] = grid ? grid.shape.slice(-2) : [1, 1]
  const canvas = /** @type {HTMLCanvasElement} */ (tile.querySelector("canvas"))
  if (canvas.width !== columns || canvas.height !== rows) Object.assign(canvas, { width: columns, height: rows })
  const image = new ImageData(columns, rows)
  const cells = new Uint32Array(image.data.buffer)
  const [r, g, b] = toRgb(theme.heads)
  const color = (b << 16) | (g << 8) | r // bytes of a pixel from the lowest on
  const values = grid ? valuesOf(grid).subarray(index * rows * columns, (index + 1) * rows * columns) : []
  values.forEach((weight, at) => cells[at] = (((255 * Math.sqrt(Math.min(1, weight))) << 24) | color) >>> 0)
  canvas.getContext("2d")?.putImageData(image, 0, 0)
}

const DECADES = 4 // of gradient norms that a bar spans
const TELLING = 10 // how many times the smallest gradient the largest is where the bars of gradients are shown

/**
 * A bar of a share or a gradient.
 *
 * @typedef {{root: HTMLElement, full: HTMLElement, number: HTMLElement}} Meter
 */

/** A bar, and the room for its number. */
function meter(/** @type {"right" | "gradient"} */ name) {
  const [full, number] = [el("span", { class: "full" }), el("span", { class: "number" })]
  return { root: el("div", { class: `meter ${name}`, role: "img" }, full, number), full, number }
}

/**
 * How likely the right answer is at a height of the stack.
 *
 * @param {Meter} meter
 * @param {number} share
 * @param {string} where
 */
function fillShare({ root: bar, full, number }, share, where) {
  const known = Number.isFinite(share)
  full.style.width = `${known ? 100 * share : 0}%`
  number.textContent = known ? exactPercent(share) : ""
  bar.style.visibility = known ? "visible" : "hidden"
  bar.title = known
    ? `If the output read the stream ${where}, the right answer would have ${exactPercent(share)}.`
    : `The right answer ${where}: not known`
  bar.setAttribute("aria-label", bar.title)
}

/**
 * The norms of a layer's gradient, the longer bar the larger one, on a logarithmic scale.
 *
 * @param {Meter} meter
 * @param {(number | null)[]} norms
 * @param {number} largest
 */
function fillGradient({ root: bar, full }, norms, largest) {
  const known = norms.filter((norm) => norm != null)
  const most = Math.max(...known, 0)
  const share = most ? Math.max(0.02, 1 + Math.log10(most / largest) / DECADES) : 0
  full.style.width = `${100 * Math.min(1, Math.max(0, share))}%`
  bar.title = known.length
    ? `Gradient norm ${known.map((norm) => number(norm)).join(", encoder ")}`
    : "Gradient norm: not known yet"
  bar.setAttribute("aria-label", bar.title)
}

/**
 * Whether the gradients of the layers differ so much that their bars tell something.
 *
 * @param {(number | null)[][]} norms of each layer, in each stack
 */
export function gradientsDiffer(norms) {
  const known = norms.map((layer) => layer.filter((norm) => norm != null)).filter(({ length }) => length)
  const each = known.map((layer) => Math.max(...layer))
  return Math.max(...each) >= TELLING * Math.min(...each)
}

/** The loss on held-out sequences, from 0 to its highest value, with its last value. */
function lossCurve() {
  const path = drawing("path", {})
  const value = el("span", {})
  const root = el(
    "div",
    { class: "curve", role: "img" },
    drawing("svg", { viewBox: "0 0 100 100", preserveAspectRatio: "none" }, path),
    value,
  )
  const draw = (/** @type {number[]} */ steps, /** @type {number[]} */ losses, /** @type {number} */ all) => {
    const points = losses.map((loss, at) => [steps[at], loss]).filter(([, loss]) => Number.isFinite(loss))
    const highest = Math.max(...points.map(([, loss]) => loss), 1e-9)
    const last = points[points.length - 1]
    path.setAttribute(
      "d",
      points
        .map(([step, loss], at) => `${at ? "L" : "M"}${(100 * step) / Math.max(1, all)} ${100 - (94 * loss) / highest}`)
        .join(" "),
    )
    value.textContent = last ? `loss ${number(last[1])}` : ""
    root.title = last ? `loss ${number(last[1])} at step ${last[0]}` : "loss: not known yet"
    root.setAttribute("aria-label", root.title)
  }
  draw([], [], 1)
  return { root, draw }
}
