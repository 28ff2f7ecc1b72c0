// The parts of the model at the sides of the picture, as buttons: those of each layer, its heads and its bars, and
// those above and below.

import { lossCurve } from "./curve.js"
import { heightOf } from "./layout.js"
import { rovingFocus } from "./roving.js"
import { drawTile, headTile } from "./tiles.js"
import { percent } from "./words.js"
import { el, number } from "../../../shell/script/dom.js"

const DECADES = 4 // of gradient norms that a bar spans
const IN_LAYER = ["skip", "norm", "mlp"]

/**
 * @typedef {{kind: string, layer: number | null, which: string | null, head: number | null}} PartAt a part of the
 *   picture
 */

/**
 * The parts of a model, built anew by `build` and brought up to date by `draw`.
 *
 * @param {(at: PartAt, node: HTMLElement) => void} onPart a part was clicked
 * @param {(at: PartAt) => void} onLarge a head was clicked twice
 * @returns {{root: HTMLElement, build: Function, draw: Function}}
 */
export function modelParts(onPart, onLarge) {
  const root = el("div", { class: "parts" })
  const curve = lossCurve()
  const partFocus = rovingFocus(root, ".part")
  const headFocus = rovingFocus(root, ".tile")
  let [layers, named] = [[], {}]

  root.onclick = ({ target }) => {
    const node = target.closest(".part, .tile")
    if (node) onPart(partAt(node), node)
  }
  root.ondblclick = ({ target }) => {
    const node = target.closest(".tile")
    if (node) onLarge(partAt(node))
  }

  const part = (model, kind, layer = null) => {
    const told = model.parts[kind]
    if (!told) return []
    const [word, rest] = told.label.split("{layer}") // on a narrow screen the number alone
    const label = rest == null ? [told.label] : [el("span", { class: "word" }, word), `${layer + 1}${rest}`]
    const node = el(
      "button",
      {
        type: "button",
        class: `part ${kind}`,
        tabindex: -1,
        "data-part": kind,
        "data-layer": layer,
        "aria-expanded": false,
        "aria-label": `${told.title.replace("{layer}", layer == null ? "" : layer + 1)}. ${told.says}`,
        title: told.says,
      },
      ...label,
    )
    ;(named[kind] ??= []).push(node)
    return [node]
  }
  const meter = (name) =>
    el("div", { class: `meter ${name}`, role: "img" }, el("span", { class: "full" }), el("span", { class: "number" }))
  const heading = (text, name) => el("span", { class: `heading ${name}` }, text)

  /** The rows of parts for a model, from the output down to the embedding. */
  const build = (model) => {
    const { controls } = model
    named = {}
    const inLayer = (kind, layer) => (controls ? part(model, kind, layer) : [])
    layers = Array.from({ length: model.layers }, (_, layer) => {
      const name = part(model, model.parts.layer ? "layer" : "cell", layer)
      const tiles = model.kinds.flatMap((kind) =>
        Array.from({ length: model.heads }, (_, head) => headTile(kind, layer, head))
      )
      const [right, gradients] = [meter("right"), controls ? meter("gradient") : null]
      const line = el(
        "div",
        { class: "line layer-row", "data-layer": layer },
        el("div", { class: "own" }, ...name, ...IN_LAYER.flatMap((kind) => inLayer(kind, layer))),
        el("div", { class: "between" }),
        el("div", { class: "tiles" }, ...tiles),
        right,
        ...(gradients ? [gradients] : []),
      )
      const columns = model.stacks.map(({ prefix }) => `grad_norms.${prefix}${model.gradients[layer]}.total`)
      return { line, tiles, right, gradients, columns }
    })
    const begin = meter("right")
    const above = el(
      "div",
      { class: "line above" },
      el("div", { class: "own" }, ...(controls ? [...part(model, "loss"), curve.root] : [])),
      el("div", { class: "between" }),
      el("div", { class: "tiles" }, ...(controls ? [...part(model, "heads"), ...part(model, "mask")] : [])),
      ...(controls ? [heading("answer", "right"), heading("gradient", "gradient")] : []),
    )
    const below = el(
      "div",
      { class: "line below" },
      el("div", { class: "own" }, ...(controls ? [...part(model, "embedding"), ...part(model, "encoding")] : [])),
      el("div", { class: "between" }),
      el("div", { class: "tiles" }),
      ...(controls ? [begin] : []),
    )
    layers.begin = begin
    layers.ends = { above, below }
    root.replaceChildren(above, ...layers.map(({ line }) => line).reverse(), below)
    partFocus.refresh()
    headFocus.refresh()
  }

  /** Place the rows, and fill tiles and bars. */
  const draw = (layout, model, seen, board) => {
    const { above, below } = layers.ends
    const put = (line, top, height) => Object.assign(line.style, { top: `${top}px`, height: `${height}px` })
    put(above, 0, layout.top)
    put(below, layout.height - layout.foot, layout.foot)
    layers.forEach(({ line }, layer) => {
      const top = heightOf(layout, layer + 1)
      put(line, layout.wide ? top : top + layout.row, layout.wide ? layout.row : layout.strip)
    })
    const theme = board.theme.name
    for (const { tiles } of layers) {
      for (const tile of tiles) {
        const { which, layer, head } = partAt(tile)
        const grid = seen.grid(which)
        const place = grid && seen.places(which)[layer]
        drawTile(tile, place == null ? null : grid, place == null ? 0 : place * model.heads + head, theme)
        tile.classList.toggle("cut", seen.cut(which === "self" ? "head" : `head.${which}`, layer, head))
        tile.setAttribute(
          "aria-pressed",
          seen.only?.which === which && seen.only.layer === layer && seen.only.head === head,
        )
      }
    }
    for (const [kind, nodes] of Object.entries(named)) {
      for (const node of nodes) {
        const { layer } = partAt(node)
        node.classList.toggle("cut", seen.cut(kind, layer))
        node.classList.toggle("off", model.parts[kind].off)
        node.classList.toggle("fault", model.parts[kind].fault)
      }
    }
    layers.forEach(({ line, right }, layer) => {
      line.classList.toggle("gone", seen.cut("layer", layer))
      fillShare(right, seen.right(layer + 1), `after layer ${layer + 1}`)
    })
    fillShare(layers.begin, seen.right(0), "before the first layer")
    const norms = layers.map(({ columns }) =>
      model.controls && seen.known ? columns.map((name) => lastOf(board.column(name))) : []
    )
    const largest = Math.max(...norms.flat().map((norm) => norm ?? 0), 1e-30)
    layers.forEach(({ gradients }, layer) => gradients && fillGradient(gradients, norms[layer], largest))
    const [steps, losses] = seen.known ? board.column("validation.loss") : [[], []]
    curve.draw(steps, losses, board.status.steps)
  }
  return { root, build, draw }
}

/** The part that a button stands for. */
function partAt(node) {
  const { part = "head", layer, kind, head } = node.dataset
  return {
    kind: part,
    layer: layer == null ? null : Number(layer),
    which: kind ?? null,
    head: head == null ? null : Number(head),
  }
}

/** How likely the right answer is at a height of the stack. */
function fillShare(bar, share, where) {
  const known = Number.isFinite(share)
  bar.firstChild.style.width = `${known ? 100 * share : 0}%`
  bar.lastChild.textContent = known ? percent(share) : ""
  bar.style.visibility = known ? "visible" : "hidden"
  bar.title = known
    ? `If the output read the stream ${where}, the right answer had ${percent(share)}.`
    : `The right answer ${where}: not known`
  bar.setAttribute("aria-label", bar.title)
}

/** The norms of a layer's gradient, the longer bar the larger one, on a logarithmic scale. */
function fillGradient(bar, norms, largest) {
  const known = norms.filter((norm) => norm != null)
  const most = Math.max(...known, 0)
  const share = most ? Math.max(0.02, 1 + Math.log10(most / largest) / DECADES) : 0
  bar.firstChild.style.width = `${100 * Math.min(1, Math.max(0, share))}%`
  bar.title = known.length
    ? `Gradient norm ${known.map((norm) => number(norm)).join(", encoder ")}`
    : "Gradient norm: not known yet"
  bar.setAttribute("aria-label", bar.title)
}

function lastOf([steps, values]) {
  return steps.length ? values[values.length - 1] : null
}
