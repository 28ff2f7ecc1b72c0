// Loss, accuracy and gradient norms: columns over the steps.

import { choice, runPanel } from "./card.js"
import { exactLines } from "./exact.js"
import { momentLines, upright } from "./moments.js"
import { number } from "../../shell/script/dom.js"
import { downloads } from "../../shell/script/downloads.js"
import { put } from "../../shell/script/panel.js"

/** @import { Foreign } from "../../shell/script/types.d.ts" */
/** @import { LiveBoard, LivePanel } from "./types.d.ts" */

/**
 * The loss, the accuracy or the gradient norms.
 *
 * @param {LiveBoard} board
 * @param {string} name
 * @returns {LivePanel}
 */
export function linePanel(board, name) {
  const panel = runPanel(board, name, { waiting: "waiting for the first step" })
  const shown = { scale: "linear", view: "layer" }
  const choose = (/** @type {"scale" | "view"} */ what) => (/** @type {string} */ value) => {
    shown[what] = value
    board.painter.touch(panel)
  }
  const scales = choice("Loss axis", { linear: "Linear", log: "Log" }, "linear", choose("scale"))
  if (name === "loss") panel.tools.append(scales)
  if (name === "gradients") {
    const views = () => choice("Gradients", { layer: "By layer", qkv: "q, k, v" }, shown.view, choose("view"))
    let buttons = views()
    panel.tools.append(buttons)
    panel.look = ({ by = "layer" }) => {
      choose("view")(by)
      buttons.replaceWith(buttons = views())
    }
  }
  panel.tools.append(downloads(board, panel))

  panel.concerns = (news) => {
    const shows = board.figures[name]?.data.map((trace) => trace.meta.column) ?? []
    return Boolean(news.figures?.[name]) || shows.some((column) => column in (news.columns ?? {}))
  }
  panel.draw = () => {
    const figure = board.figures[name]
    if (!figure) return
    const begun = figure.data.some((trace) => board.column(trace.meta.column)[0].length)
    // Empty axes would keep the first point waiting.
    if (!begun && ["queued", "running"].includes(board.status.state)) return
    const traces = figure.data
      .filter((trace) => !trace.meta.view || trace.meta.view === shown.view)
      .concat(board.data.overlays[name] ?? [])
      .map((trace) => filled(board, trace))
    const { xaxis, yaxis } = figure.layout
    const others = board.data.levels?.[name] ?? []
    const levels = () => [...(figure.layout.shapes ?? []), ...others]
    // Named ticks say perplexities: the axis of the loss of a text is one of logarithms already.
    scales.hidden = Boolean(yaxis.ticktext)
    panel.call(scales.hidden ? "perplexity" : name)
    const log = shown.scale === "log" && !scales.hidden
    const axis = panel.plot._fullLayout?.yaxis
    const range = `${axis?.range}`
    const beside = others.length && axis ? labelsBeside(levels(), axis) : []
    panel.exact = () => exactLines(board, traces)
    put(board, panel, traces, {
      ...figure.layout,
      // The title names a single curve.
      ...(board.theme.room && name === "accuracy" && traces.filter(({ showlegend }) => showlegend).length < 2
        ? { showlegend: false }
        : {}),
      legend: { ...figure.layout.legend, traceorder: "normal" }, // one row, though earlier runs are groups of their own
      // The first tick names the axis: a title would take a line from a low plot.
      xaxis: {
        ...xaxis,
        title: "",
        tickprefix: `${xaxis.title.text} `,
        showtickprefix: "first",
        range: [0, lastStep(board, xaxis.range[1])],
        ...(board.theme.room ? { nticks: 5 } : {}), // letters are large: the named tick would touch its neighbour
      },
      yaxis: {
        ...yaxis,
        ...(board.theme.room ? { title: { ...yaxis.title, standoff: 28 } } : {}),
        ...(log ? { type: "log", rangemode: "normal", uirevision: "log" } : {}),
      },
      margin: { ...figure.layout.margin, b: 8, ...(others.length ? { r: 92 } : {}) },
      annotations: beside,
      shapes: [
        ...levels().filter((shape) => !log || shape.y0 > 0).map((shape) =>
          others.length ? { ...shape, label: undefined } : shape
        ),
        ...(name === "gradients" ? [] : momentLines(board)),
        ...marker(board),
      ],
    })
    if (others.length) {
      // The labels follow the axis, also as the reader zooms.
      if (range !== `${panel.plot._fullLayout.yaxis.range}`) board.painter.touch(panel)
      if (!panel.listening) panel.plot.on?.("plotly_relayout", () => board.painter.touch(panel))
      panel.listening = true
    }
    Object.assign(panel.plot.dataset, { step: board.shownStep(), run: board.data.run })
    board.describe(panel, () => `${panel.title} at step ${board.shownStep()}: ${inWords(traces, levels())}`)
  }
  return panel
}

/** A trace with the points of its line. */
function filled(/** @type {LiveBoard} */ board, /** @type {Foreign} */ trace) {
  if (trace.meta.overlay) return trace
  const [x, y] = board.column(trace.meta.column)
  // A line of one point is invisible.
  const single = y.length === 1 ? { mode: "lines+markers", marker: { size: 6 } } : {}
  const perplexity = trace.meta.perplexity
    ? { text: y.map((value) => number(Math.exp(value))), hovertemplate: "%{y:.3f} nats, perplexity %{text}" }
    : {}
  return { ...trace, ...single, ...perplexity, x, y, showlegend: trace.meta.legend !== false && y.length > 0 }
}

/**
 * The labels of the level lines in sight right of the plot, where no curve runs through them; where lines lie close, one
 * below the other.
 *
 * @param {Foreign[]} levels
 * @param {Foreign} axis as it was drawn last
 * @returns {Foreign[]}
 */
export function labelsBeside(levels, axis) {
  let last = -Infinity
  const seen = levels.filter(({ y0 }) => axis.d2p(y0) >= 0 && axis.d2p(y0) <= axis._length) // pixels from the top
  return seen.sort((one, other) => other.y0 - one.y0).map(({ y0, label: { text, font } }) => {
    last = Math.max(axis.d2p(y0), last + 1.2 * font.size)
    const y = 1 - last / axis._length
    return { text, font, xref: "paper", x: 1, xanchor: "left", yref: "paper", y, yanchor: "middle", showarrow: false }
  })
}

/** The axis ends with the run, or where it stopped early, or with a longer run that is drawn behind it. */
function lastStep(/** @type {LiveBoard} */ board, /** @type {number} */ planned) {
  const overlays = Object.values(board.data.overlays).flat()
  const reached = board.ended() && board.status.step > 0 ? board.status.step : planned
  return Math.max(reached, ...overlays.map((trace) => trace.x[trace.x.length - 1] ?? 0))
}

/** A vertical line at the step chosen in the replay. */
function marker(/** @type {LiveBoard} */ board) {
  const step = board.replayedStep()
  return step == null ? [] : [{ ...upright(step), name: "accent", line: { width: 1.5 } }]
}

/**
 * The last values of all lines.
 *
 * @param {Foreign[]} traces
 * @param {Foreign[]} levels
 */
function inWords(traces, levels = []) {
  const lines = traces.filter((trace) => trace.y.length).map((trace) =>
    `${trace.meta.label ?? trace.name} ${number(trace.y[trace.y.length - 1])}`
  )
  return [...lines, ...levels.map((shape) => shape.name)].join(", ") || "no values yet"
}
