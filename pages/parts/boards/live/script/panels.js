// The panels of a run: what all of them have, the lines over the steps, memory, predictions, written texts.

import { exactLines } from "./data.js"
import { scoreOf } from "./stack/words.js"
import { milestoneLines, upright } from "./timeline.js"
import { el, number, setText, termLink } from "../../base/script/dom.js"
import { downloads } from "../../base/script/downloads.js"
import { newPanel, put } from "../../base/script/figure.js"

/** @import { LiveBoard, LivePanel, Update, Sample } from "./types.d.ts" */
/** @import { Foreign } from "../../base/script/types.d.ts" */

/**
 * A panel with its glossary term. `concerns` tells whether a message of the run changes what it shows; `ofModel`: whether it
 * shows the model at one step, as the picture of the model does; `sayWhose` says then whose it is, where that is
 * something else.
 *
 * @param {LiveBoard} board
 * @param {string} name
 * @param {{plotted?: boolean, waiting?: string, ofModel?: boolean}} [how]
 * @returns {LivePanel}
 */
export function runPanel(
  board,
  name,
  { plotted = true, waiting = "waiting for the first snapshot", ofModel = false } = {},
) {
  const [title] = board.data.titled[name]
  const panel = newPanel({ id: name, kind: name, title, tag: "h3", level: board.data.level, waiting, plotted })
  const whose = el("p", { class: "whose", hidden: true })
  panel.body.before(whose)
  const sayWhose = (/** @type {string} */ words) => setText(whose, ofModel ? words : "")
  /** Give the panel the title of that name. */
  const call = (/** @type {string} */ shown) => {
    if (panel.heading.dataset.shown === shown) return
    panel.heading.dataset.shown = shown
    const [title, term] = board.data.titled[shown]
    panel.title = title
    panel.root.setAttribute("aria-label", title)
    panel.heading.replaceChildren(`${title} `, termLink(term, title))
  }
  call(name)
  const concerns = (/** @type {Update} */ update) => Boolean(update.snapshots?.length)
  return Object.assign(panel, { waiting, concerns, sayWhose, call })
}

/**
 * Buttons of which exactly one is pressed.
 *
 * @template {string} Name
 * @param {string} label
 * @param {Record<string, string>} options
 * @param {Name} chosen
 * @param {(name: Name) => void} onChoose
 */
export function choice(label, options, chosen, onChoose) {
  const group = el("div", { class: "choice", role: "group", "aria-label": label })
  const buttons = /** @type {[Name, string][]} */ (Object.entries(options)).map(([name, text]) => {
    const onclick = () => {
      press(name)
      onChoose(name)
    }
    return { name, button: el("button", { type: "button", "data-name": name, onclick }, text) }
  })
  const press = (/** @type {Name} */ pressed) =>
    buttons.forEach(({ name, button }) => button.setAttribute("aria-pressed", `${name === pressed}`))
  group.append(...buttons.map(({ button }) => button))
  press(chosen)
  return group
}

/**
 * Words beside the pointer within an element, hidden as long as there are none.
 *
 * @param {HTMLElement} within
 * @returns {LiveBoard["tip"]}
 */
export function newTip(within) {
  const tip = el("div", { class: "tip", hidden: true })
  within.append(tip)
  return (text, event) => {
    setText(tip, text)
    if (!text || !event) return
    const box = within.getBoundingClientRect()
    const left = Math.min(event.clientX - box.left + 14, box.width - tip.offsetWidth - 4)
    tip.style.transform = `translate(${Math.max(0, left)}px, ${event.clientY - box.top + 16}px)`
  }
}

/**
 * Lines over the steps.
 *
 * @param {LiveBoard} board
 * @param {string} name
 * @returns {LivePanel}
 */
export function linePanel(board, name) {
  const panel = runPanel(board, name, { waiting: "waiting for the first step" })
  const { scales: scaled, views: grouped, plain: unmarked } = board.data.lines[name] ?? {}
  const [views, groups] = grouped ?? ["", {}]
  const [first] = Object.keys(groups)
  const shown = { scale: "linear", view: first }
  const choose = (/** @type {"scale" | "view"} */ what) => (/** @type {string} */ value) => {
    shown[what] = value
    board.painter.touch(panel)
  }
  const scales = choice(scaled ?? "", { linear: "Linear", log: "Log" }, "linear", choose("scale"))
  if (scaled) panel.tools.append(scales)
  if (views) {
    const buttonsOf = () => choice(views, groups, shown.view, choose("view"))
    let buttons = buttonsOf()
    panel.tools.append(buttons)
    panel.showView = ({ by = first }) => {
      choose("view")(by)
      buttons.replaceWith(buttons = buttonsOf())
    }
  }
  panel.tools.append(downloads(board, panel))

  panel.concerns = (update) => {
    const shows = board.figures[name]?.data.map((trace) => trace.meta.column) ?? []
    return Boolean(update.figures?.[name]) || shows.some((column) => column in (update.columns ?? {}))
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
    scales.hidden = Boolean(yaxis.ticktext) // named ticks: the axis is one of logarithms already
    panel.call(figure.layout.meta?.called ?? name)
    const log = shown.scale === "log" && !scales.hidden
    const axis = panel.plot._fullLayout?.yaxis
    const range = `${axis?.range}`
    const beside = others.length && axis ? labelsBeside(levels(), axis) : []
    panel.exact = () => exactLines(board, traces)
    put(board, panel, traces, {
      ...figure.layout,
      // The title names a single curve.
      ...(board.theme.room && traces.filter(({ showlegend }) => showlegend).length < 2 ? { showlegend: false } : {}),
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
        ...(unmarked ? [] : milestoneLines(board)),
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
  const visible = levels.filter(({ y0 }) => axis.d2p(y0) >= 0 && axis.d2p(y0) <= axis._length) // pixels from the top
  return visible.sort((one, other) => other.y0 - one.y0).map(({ y0, label: { text, font } }) => {
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

/** The memory that was predicted and measured. */
export function memoryPanel(/** @type {LiveBoard} */ board) {
  const panel = runPanel(board, "memory", { waiting: "waiting for the run to start" })
  panel.tools.append(downloads(board, panel))
  panel.concerns = (update) => Boolean(update.figures?.memory)
  panel.draw = () => {
    const figure = board.figures.memory
    if (!figure) return
    put(board, panel, figure.data, figure.layout)
    const bar = (/** @type {number} */ index) =>
      figure.data
        .filter((/** @type {Foreign} */ trace) => trace.x[index] != null)
        .map((/** @type {Foreign} */ trace) => `${trace.name} ${number(trace.x[index])}`)
    const measured = bar(1).length ? bar(1).join(", ") : "not yet"
    board.describe(
      panel,
      () => `${figure.layout.xaxis.title.text}. Predicted: ${bar(0).join(", ")}. Measured: ${measured}.`,
    )
  }
  return panel
}

/** Probe sequences token by token; right and wrong by sign as well as by colour. */
export function samplesPanel(/** @type {LiveBoard} */ board) {
  const panel = runPanel(board, "samples", { plotted: false, ofModel: true })
  const score = el("span", { class: "score" })
  const list = el("div", { class: "list", tabindex: 0, role: "group", "aria-label": panel.title })
  panel.tools.append(score)
  panel.body.append(list)
  panel.draw = () => {
    const samples = board.snapshot()?.samples
    if (!samples?.length) return
    panel.wait.hidden = true
    score.textContent = scoreOf({ marks: samples.flatMap(({ marks }) => marks) })
    list.replaceChildren(...samples.map(sampleTable))
  }
  return panel
}

/** The text that a language model wrote at each snapshot, the latest first: the held-out prompt, then its own. */
export function writtenPanel(/** @type {LiveBoard} */ board) {
  const panel = runPanel(board, "written", { plotted: false })
  const list = el("div", { class: "texts", tabindex: 0, role: "group", "aria-label": panel.title })
  panel.body.append(list)
  panel.draw = () => {
    const upto = board.looking == null ? board.snapshots.length : board.looking + 1
    const texts = board.snapshots.slice(0, upto).filter((snapshot) => snapshot.prompt).reverse()
    panel.wait.hidden = texts.length > 0
    list.replaceChildren(
      ...texts.map(({ step, prompt, written }) =>
        el(
          "p",
          {},
          el("span", { class: "step" }, `step ${step.toLocaleString("en")}`),
          el("span", { dir: "auto" }, el("span", { class: "given" }, prompt ?? ""), written ?? ""),
        )
      ),
    )
  }
  return panel
}

/**
 * A sequence as a table: what is read, what is right, and what is predicted. Symbols that stand at two asked positions are
 * marked as twins, which a page may outline.
 */
function sampleTable(/** @type {Sample} */ sample, /** @type {number} */ index) {
  const row = (/** @type {string} */ label, /** @type {HTMLElement[]} */ cells) =>
    el("tr", {}, el("th", { scope: "row" }, label), ...cells)
  const answered = sample.tokens.filter((_, i) => sample.marks[i] != null)
  const twin = (/** @type {number} */ i) =>
    sample.marks[i] != null && answered.filter((token) => token === sample.tokens[i]).length > 1 ? "twin" : ""
  const judged = sample.predictions.map((token, i) => {
    const mark = sample.marks[i]
    if (mark == null) return el("td", { class: "unasked" }, "")
    return el("td", { class: `${mark ? "right" : "wrong"} ${twin(i)}` }, `${token}\u2009${mark ? "✓" : "✗"}`)
  })
  return el(
    "table",
    {},
    el("caption", {}, `Sequence ${index + 1}${sample.source.length ? `, source ${sample.source.join(" ")}` : ""}`),
    el(
      "tbody",
      {},
      row("reads", sample.tokens.map((token, i) => el("td", { class: twin(i) }, token))),
      row("must write", sample.targets.map((token) => el("td", {}, token))),
      row("writes", judged),
    ),
  )
}
