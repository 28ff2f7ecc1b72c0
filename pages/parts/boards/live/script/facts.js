// Memory, sample predictions and written texts.

import { runPanel } from "./card.js"
import { scoreOf } from "./stack/words.js"
import { el, number } from "../../shell/script/dom.js"
import { downloads } from "../../shell/script/downloads.js"
import { put } from "../../shell/script/panel.js"

/** @import { Foreign } from "../../shell/script/types.d.ts" */
/** @import { LiveBoard, Sample } from "./types.d.ts" */

/** The memory that was predicted and measured. */
export function memoryPanel(/** @type {LiveBoard} */ board) {
  const panel = runPanel(board, "memory", { waiting: "waiting for the run to start" })
  panel.tools.append(downloads(board, panel))
  panel.concerns = (news) => Boolean(news.figures?.memory)
  panel.draw = () => {
    const figure = board.figures.memory
    if (!figure) return
    put(board, panel, figure.data, figure.layout)
    const bar = (/** @type {number} */ place) =>
      figure.data
        .filter((/** @type {Foreign} */ trace) => trace.x[place] != null)
        .map((/** @type {Foreign} */ trace) => `${trace.name} ${number(trace.x[place])}`)
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
function sampleTable(/** @type {Sample} */ sample, /** @type {number} */ place) {
  const row = (/** @type {string} */ label, /** @type {HTMLElement[]} */ cells) =>
    el("tr", {}, el("th", { scope: "row" }, label), ...cells)
  const asked = sample.tokens.filter((_, i) => sample.marks[i] != null)
  const twin = (/** @type {number} */ i) =>
    sample.marks[i] != null && asked.filter((token) => token === sample.tokens[i]).length > 1 ? "twin" : ""
  const judged = sample.predictions.map((token, i) => {
    const mark = sample.marks[i]
    if (mark == null) return el("td", { class: "unasked" }, "")
    return el("td", { class: `${mark ? "right" : "wrong"} ${twin(i)}` }, `${token}\u2009${mark ? "✓" : "✗"}`)
  })
  return el(
    "table",
    {},
    el("caption", {}, `Sequence ${place + 1}${sample.source.length ? `, source ${sample.source.join(" ")}` : ""}`),
    el(
      "tbody",
      {},
      row("reads", sample.tokens.map((token, i) => el("td", { class: twin(i) }, token))),
      row("answer", sample.targets.map((token) => el("td", {}, token))),
      row("predicts", judged),
    ),
  )
}
