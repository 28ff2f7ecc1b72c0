// The model as a row of boxes from what is read to what is written. Each box shows its attention and its gradient, and is a control.

import { runPanel } from "./card.js"
import { matrixOf } from "./grids.js"
import { drawing, el, number, toRgb } from "../../shell/script/dom.js"

const THUMBNAILS = 5 // of all layers of a stack together, at least one a layer
const THUMBNAIL = 34 // pixels

/** The model of the present settings, which the page describes as `board.data.model`: {read, stacks: [{title, layers: [{name}],
 * kind, numbers, gradients, norms, skip}], common, write, fits} as pages/parts/lab/model.py makes it.
 *
 * A part is {part, label, help, does}; `does` is what a click asks of the page: {set: {setting: value}} or {open: group}.
 */
export function modelPanel(board, title) {
  const panel = runPanel(board, "model", title, { plotted: false, waiting: "waiting for the settings" })
  const flow = el("div", { class: "flow", tabindex: 0, role: "group", "aria-label": `${title}: each part is a control` })
  const common = el("div", { class: "parts", role: "group", "aria-label": "In each layer" })
  panel.tools.append(common)
  panel.body.append(flow)
  const curve = lossCurve()
  let drawn = ""
  let layers = []

  const part = ({ part: kind, label, help, does, off = false, fault = false }, shown = label) =>
    el("button", {
      type: "button", class: `part ${kind}${off ? " off" : ""}${fault ? " fault" : ""}`, title: help, "aria-label": `${label}. ${help}`,
      disabled: !does, onclick: () => board.trigger("act", does),
    }, shown)
  /** The line around a layer, on which its input is carried past it. */
  const skipLine = (skip) =>
    part(skip, drawing("svg", { viewBox: "0 0 100 14", preserveAspectRatio: "none" }, drawing("path", { d: skip.off ? "M1 14 V4 H38 M62 4 H99 V14" : "M1 14 V4 H99 V14" })))
  const layerBox = ({ kind, gradients, numbers, norms, skip }, { name }) => {
    const thumbnails = el("div", { class: "thumbnails" })
    const gradient = el("span", { class: "gradient", role: "img", "aria-label": "gradient: not known yet" }, el("span"))
    const place = layers.filter((other) => other.kind === kind).length
    layers.push({ thumbnails, gradient, kind, most: Math.max(1, Math.floor(THUMBNAILS / numbers.length)), number: numbers[place], column: `grad_norms.${gradients}${norms[place]}.total` })
    return el("div", { class: "layer" }, ...(skip ? [skipLine(skip)] : []), el("div", { class: "inside" }, el("span", { class: "name" }, name), thumbnails), gradient)
  }
  const arrow = () => el("span", { class: "arrow", "aria-hidden": true }, "→")

  const build = (model) => {
    layers = []
    const stacks = model.stacks.map((stack) =>
      el("div", { class: "stack" }, ...(stack.title ? [el("span", { class: "stack-title" }, stack.title)] : []),
        el("div", { class: "row" }, ...stack.layers.flatMap((layer, at) => (layer.skipped ? [el("span", { class: "more" }, layer.skipped)] : [...(at ? [arrow()] : []), layerBox(stack, layer)])))))
    flow.replaceChildren(el("div", { class: "ends" }, ...model.read.map((one) => part(one))), arrow(), el("div", { class: "stacks" }, ...stacks), arrow(), el("div", { class: "ends" }, ...model.write.map((one) => part(one)), curve.root))
    common.replaceChildren(...model.common.map((one) => part(one)))
  }

  panel.concerns = (news) => Boolean(news.snapshots?.length || Object.keys(news.columns ?? {}).length)
  panel.draw = () => {
    const { model } = board.data
    if (!model) return
    panel.wait.hidden = true
    const wanted = JSON.stringify(model)
    if (wanted !== drawn) {
      build(model)
      drawn = wanted
    }
    const [steps, losses] = board.column("validation.loss")
    curve.draw(steps, model.fits ? losses : [], board.status.steps)
    const largest = Math.max(...layers.map((layer) => gradientOf(layer) ?? 0), 1e-30)
    for (const layer of layers) {
      thumbnailsOf(layer, model.fits ? board.snapshot()?.patterns[layer.kind] : null, board.theme)
      const norm = model.fits ? gradientOf(layer) : null
      const share = norm ? Math.max(0.02, 1 + Math.log10(norm / largest) / 4) : 0 // four decades
      layer.gradient.firstChild.style.width = `${100 * Math.min(1, Math.max(0, share))}%`
      layer.gradient.setAttribute("aria-label", norm == null ? "gradient: not known yet" : `gradient norm ${number(norm)}`)
      layer.gradient.title = layer.gradient.getAttribute("aria-label")
    }
  }
  const gradientOf = (layer) => {
    const [steps, values] = board.column(layer.column)
    return steps.length ? values[values.length - 1] : null
  }
  return panel
}

/** The loss on held-out sequences as a small curve, from 0 to its highest value, with its last value. */
function lossCurve() {
  const path = drawing("path", {})
  const value = el("span", {})
  const root = el("div", { class: "curve", role: "img" }, drawing("svg", { viewBox: "0 0 100 100", preserveAspectRatio: "none" }, path), value)
  const draw = (steps, losses, all) => {
    const points = losses.map((loss, at) => [steps[at], loss]).filter(([, loss]) => Number.isFinite(loss))
    const highest = Math.max(...points.map(([, loss]) => loss), 1e-9)
    const last = points[points.length - 1]
    path.setAttribute("d", points.map(([step, loss], at) => `${at ? "L" : "M"}${(100 * step) / Math.max(1, all)} ${100 - (94 * loss) / highest}`).join(" "))
    value.textContent = last ? number(last[1]) : ""
    root.setAttribute("aria-label", last ? `loss ${number(last[1])} at step ${last[0]}` : "loss: not known yet")
    root.title = root.getAttribute("aria-label")
  }
  draw([], [], 1)
  return { root, draw }
}

/** Small pictures of the heads' attention in one layer, in the accent colour. */
function thumbnailsOf({ thumbnails: root, number: layer, most }, grid, theme) {
  const [layers, heads, rows, columns] = grid?.shape ?? [0, 0, 0, 0]
  const count = grid && layer < layers ? Math.min(heads, most) : 0
  while (root.children.length > count) root.lastChild.remove()
  while (root.children.length < count) root.append(el("canvas", { width: THUMBNAIL, height: THUMBNAIL, role: "img" }))
  const [r, g, b] = toRgb(theme.name === "dark" ? "#8AB4F8" : "#1F4E9E")
  for (let head = 0; head < count; head++) {
    const canvas = root.children[head]
    Object.assign(canvas, { width: columns, height: rows })
    canvas.setAttribute("aria-label", `attention of layer ${layer + 1}, head ${head + 1}`)
    const image = new ImageData(columns, rows)
    matrixOf(grid, layer * heads + head).forEach((row, y) =>
      row.forEach((weight, x) => image.data.set([r, g, b, Math.round(255 * Math.min(1, weight))], 4 * (y * columns + x))))
    canvas.getContext("2d").putImageData(image, 0, 0)
  }
}
