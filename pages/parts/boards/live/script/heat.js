// Attention patterns and the encoding's matrices of the chosen snapshot.

import { entryOf, matrixAlone, matrixOf, mosaicOf, tracesOf } from "./data.js"
import { choice, runPanel } from "./panels.js"
import { el, number } from "../../base/script/dom.js"
import { downloads } from "../../base/script/downloads.js"
import { put } from "../../base/script/figure.js"

/** @import { Exact, Grid, Head, LiveBoard, LivePanel, Snapshot, Which } from "./types.d.ts" */

/**
 * All heads side by side, and one enlarged; both use the same chosen kind, layer and head.
 *
 * On a board with room for one figure ("heads") either stands alone: of a single head the one, of several all.
 */
export function attentionPanels(/** @type {LiveBoard} */ board) {
  /** @type {Head} */
  const chosen = { which: "self", layer: 0, head: 0 }
  const alone = board.data.panels.includes("heads")
  const [all, one] = ["attention", "pattern"].map((name) => runPanel(board, name, { ofModel: true }))
  const kinds = el("div", { class: "kinds" })
  const layers = indexList("Layer", "Layer", (layer) => pick({ layer }))
  const heads = indexList("Head", "Head", (head) => pick({ head }))
  one.root.hidden = alone
  all.tools.append(kinds, downloads(board, all))
  one.tools.append(layers.root, heads.root, downloads(board, one))

  const choose = (/** @type {Partial<Head>} */ change) => {
    Object.assign(chosen, change)
    board.painter.touch(all, one)
  }
  let picked = false
  /** The reader's choice: the picture of the model follows it. */
  const pick = (/** @type {Partial<Head>} */ change) => {
    picked = true
    choose(change)
    board.panels.forEach((panel) => panel.chooseHead?.({ ...chosen }))
  }
  all.showView = ({ which = "self", layer = 0, head = 0 }) => {
    picked = which !== "self" || layer > 0 || head > 0 // the first head is no choice: that of the sentence is shown
    choose({ which, layer, head })
  }
  board.suggest = ({ which, layer, head }) => {
    const shown = chosen.which === which && chosen.layer === layer && chosen.head === head
    if (!picked && !shown) choose({ which, layer, head })
  }
  board.largeHead = () => ({ ...chosen })
  board.enlarge = (head) => {
    picked = true
    choose(head)
    return (one.root.hidden ? all : one).root
  }
  /**
   * Offer what a snapshot with attention has, and show those that there are figures for: of a single head both would be
   * the same picture. Returns the grid of the chosen kind, which it then has.
   */
  const offer = (/** @type {Snapshot} */ { patterns }) => {
    const names = /** @type {Which[]} */ (Object.keys(patterns))
    if (!names.includes(chosen.which)) chosen.which = names[0]
    if (kinds.dataset.names !== names.join()) {
      kinds.dataset.names = names.join()
      kinds.replaceChildren(
        ...(names.length > 1 ? [choice("Pattern", named(names), chosen.which, (which) => pick({ which }))] : []),
      )
    }
    const found = /** @type {Grid} */ (patterns[chosen.which])
    const [layerCount, headCount] = found.shape
    chosen.layer = Math.min(chosen.layer, layerCount - 1)
    chosen.head = Math.min(chosen.head, headCount - 1)
    layers.offer(layerCount, chosen.layer)
    heads.offer(headCount, chosen.head)
    all.root.hidden = layerCount * headCount === 1
    one.root.hidden = alone && !all.root.hidden
    return found
  }

  all.draw = () => {
    const snapshot = board.snapshot()
    if (!snapshot) return
    if (!Object.keys(snapshot.patterns).length) {
      all.root.hidden = false
      all.wait.textContent = one.wait.textContent = "This family has no attention."
      return
    }
    const found = offer(snapshot)
    const figure = board.figures[`mosaic.${chosen.which}`]
    if (!figure) return
    const { tile, cells } = figure.data[0].meta
    const corner = { x0: chosen.head * tile[1] - 0.5, y0: chosen.layer * tile[0] - 0.5 }
    const frame = {
      type: "rect",
      name: "accent",
      ...corner,
      x1: corner.x0 + cells[1],
      y1: corner.y0 + cells[0],
      line: { width: 2 },
    }
    const [layerCount, headCount] = found.shape
    // Tiles keep their proportions: many layers of few heads need height. Where a figure stands alone, the page has
    // said how high.
    const taller = alone ? 1 : Math.min(Math.max((layerCount * tile[0]) / (headCount * tile[1]) / 1.5, 1), 2)
    all.body.style.height = `calc(var(--plot) * ${taller})`
    put(board, all, [{ ...figure.data[0], z: mosaicOf(found, tile) }], { ...figure.layout, shapes: [frame] })
    all.detail = `step ${snapshot.step}`
    all.click = (row, column) => pick({ layer: Math.floor(row / tile[0]), head: Math.floor(column / tile[1]) })
    all.describeCell = (row, column, array) => {
      const [layer, head] = [Math.floor(row / tile[0]), Math.floor(column / tile[1])]
      const cell = cellInWords(layer, head, [row % tile[0], column % tile[1]], array)
      return `L${layer + 1} H${head + 1} · ${cell}`
    }
    listen(board, all)
    board.describe(
      all,
      () =>
        `Attention of ${layerCount} layers with ${headCount} heads each, at step ${snapshot.step}. ` +
        `The enlarged one is layer ${chosen.layer + 1}, head ${chosen.head + 1}.`,
    )
  }

  /** A cell of a head's matrix in words. */
  const cellInWords = (
    /** @type {number} */ layer,
    /** @type {number} */ head,
    /** @type {[number, number]} */ [row, column],
    /** @type {Exact | null} */ array,
  ) => {
    const { queries, keys } = board.figures[`pattern.${chosen.which}`].data[0].meta
    const drawn = board.snapshot()?.patterns[chosen.which]
    if (!drawn) return ""
    const found = entryOf(drawn, array, layer * drawn.shape[1] + head, row, column, (weight) => weight.toFixed(3))
    if (!found) return ""
    return `query ${found.row} “${queries[row]}” → key ${found.column} “${keys[column]}”: ${found.value}`
  }
  const axes = () => ({ x: "key", y: "query", label: chosen.which })
  const numbers = () => board.exact("patterns", chosen.which)
  all.numbers = one.numbers = numbers
  // Both use the present choice: it may change before the numbers arrive.
  all.exact = () => {
    const named = axes()
    return numbers().comes.then((array) => array && tracesOf(array, named))
  }
  one.exact = () => {
    const [named, { layer, head }] = [axes(), { ...chosen }]
    return numbers().comes.then((array) => array && tracesOf(matrixAlone(array, layer * array.shape[1] + head), named))
  }

  one.draw = () => {
    const figure = board.figures[`pattern.${chosen.which}`]
    const snapshot = board.snapshot()
    if (!figure || !snapshot?.patterns[chosen.which]) return
    const found = offer(snapshot) // here too: what is hidden is not drawn
    const z = matrixOf(found, chosen.layer * found.shape[1] + chosen.head)
    one.detail = `layer ${chosen.layer + 1}, head ${chosen.head + 1}, step ${snapshot.step}`
    put(board, one, [{ ...figure.data[0], z }], figure.layout)
    one.describeCell = (row, column, array) => cellInWords(chosen.layer, chosen.head, [row, column], array)
    listen(board, one)
    board.describe(one, () => {
      const strongest = z.map((row, query) => `${query + 1} to ${row.indexOf(Math.max(...row)) + 1}`).slice(0, 16)
      return `Layer ${chosen.layer + 1}, head ${
        chosen.head + 1
      }, at step ${snapshot.step}. Strongest key of each query: ${strongest.join(", ")}.`
    })
  }
  return [all, one]
}

/** @type {Record<Which, string>} */
const KINDS = { self: "Self", encoder: "Encoder", cross: "Cross" }
const named = (/** @type {Which[]} */ names) => Object.fromEntries(names.map((name) => [name, KINDS[name] ?? name]))

/**
 * A list to choose an index from; `offer` says how many there are and which is chosen. It is seen where there is a
 * choice.
 *
 * @param {string} label
 * @param {string} noun of what is counted
 * @param {(index: number) => void} onChoose
 */
function indexList(label, noun, onChoose) {
  const root = el("select", { "aria-label": label, hidden: true, onchange: () => onChoose(Number(root.value)) })
  const offer = (/** @type {number} */ count, /** @type {number} */ chosen) => {
    if (root.options.length !== count) {
      root.replaceChildren(
        ...Array.from({ length: count }, (_, index) => el("option", { value: index }, `${noun} ${index + 1}`)),
      )
    }
    if (root.value !== `${chosen}`) root.value = `${chosen}`
    root.hidden = count < 2
  }
  return { root, offer }
}

/** The encoding and the similarity of positions; both use the same chosen layer, where each has its own encoding. */
export function encodingPanels(/** @type {LiveBoard} */ board) {
  const chosen = { layer: 0 }
  const panels = ["matrix", "similarity"].map((part) => encodingPanel(board, part, chosen))
  const layers = indexList("Layer of the encoding", "Layer", (layer) => {
    chosen.layer = layer
    board.painter.touch(...panels)
  })
  const [matrix] = panels
  const draw = matrix.draw
  matrix.tools.prepend(layers.root)
  matrix.draw = () => {
    const count = Object.keys(board.snapshot()?.encoding ?? {}).filter((name) => name.split(".")[0] === "matrix").length
    chosen.layer = Math.min(chosen.layer, Math.max(0, count - 1))
    layers.offer(count, chosen.layer)
    draw()
  }
  return panels
}

/**
 * The encoding ("matrix") or the similarity of positions ("similarity") in the chosen layer.
 *
 * @param {LiveBoard} board
 * @param {string} name
 * @param {{layer: number}} chosen
 */
function encodingPanel(board, name, chosen) {
  const panel = runPanel(board, name, { ofModel: true })
  panel.tools.append(downloads(board, panel))
  panel.saysOf = ({ encoding }) => Object.keys(encoding).some((one) => one.split(".")[0] === name)
  panel.draw = () => {
    const snapshot = board.snapshot()
    if (!snapshot) return
    const where = `${`${name}.1` in snapshot.encoding ? `layer ${chosen.layer + 1}, ` : ""}step ${snapshot.step}`
    const ofLayer = `${name}.${chosen.layer}`
    const stored = ofLayer in snapshot.encoding ? ofLayer : name
    const grid = snapshot.encoding[stored]
    const figure = board.figures[name]
    if (!grid || !figure) return
    const trace = figure.data[0]
    const tiled = grid.shape.length === 3
    const z = tiled ? mosaicOf(grid, trace.meta.tile) : matrixOf(grid)
    const reach = Math.max(Math.abs(grid.low), Math.abs(grid.high))
    const range = name === "matrix" || reach > 1 ? { zmin: -reach, zmax: reach } : {}
    panel.detail = where
    put(board, panel, [{ ...trace, z, ...range }], figure.layout)
    const numbers = () => board.exact("encoding", stored)
    panel.numbers = numbers
    panel.exact = () => numbers().comes.then((array) => array && tracesOf(array, trace.meta))
    panel.describeCell = (row, column, array) => {
      const head = tiled ? Math.floor(column / trace.meta.tile[1]) : 0
      const found = entryOf(grid, array, head, row, tiled ? column % trace.meta.tile[1] : column)
      if (!found) return ""
      const cell = `${trace.meta.y} ${found.row}, ${trace.meta.x} ${found.column}: ${found.value}`
      return tiled ? `head ${head + 1}, ${cell}` : cell
    }
    listen(board, panel)
    board.describe(
      panel,
      () =>
        `${panel.title}, ${where}: ${grid.shape.join(" by ")} values from ${number(grid.low)} to ${number(grid.high)}.`,
    )
  }
  return panel
}

/**
 * A tooltip beside the pointer, and clicks: each plot has one listener, which calls the panel's latest `describeCell` and
 * `click`. The exact array is told once the run has ended and the array is loaded.
 */
function listen(/** @type {LiveBoard} */ board, /** @type {LivePanel} */ panel) {
  if (panel.listening) return
  panel.listening = true
  /** @type {[number, number] | null} */
  let pointed = null
  panel.plot.on?.("plotly_hover", ({ points: [{ pointNumber }], event }) => {
    /** @type {[number, number]} */
    const cell = pointNumber
    const numbers = board.ended() ? panel.numbers?.() : null
    const show = () => board.tip(panel.describeCell?.(...cell, numbers?.there ?? null) ?? "", event)
    pointed = cell
    show()
    if (numbers && !numbers.there) numbers.comes.then(() => pointed === cell && show())
  })
  panel.plot.on?.("plotly_unhover", () => {
    pointed = null
    board.tip("")
  })
  panel.plot.on?.("plotly_click", ({ points: [{ pointNumber: [row, column] }] }) => panel.click?.(row, column))
}
