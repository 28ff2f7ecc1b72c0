// One sequence symbol by symbol: what the model reads, what it must write, what it writes; and arcs to what a symbol attends to.

import { runPanel } from "./card.js"
import { matrixOf } from "./grids.js"
import { appAddress, drawing, el, number } from "../../shell/script/dom.js"

const FAINTEST = 0.04 // the smallest attention weight that is drawn as an arc
const MOST_COLUMNS = 96

export function stripPanel(board, title) {
  const panel = runPanel(board, "strip", title, { plotted: false, waiting: "waiting for the first look at the model" })
  const score = el("span", { class: "score" })
  const arcs = drawing("svg", { class: "arcs", "aria-hidden": "true" })
  const table = el("table")
  const sheet = el("div", { class: "sheet", tabindex: 0, role: "group", "aria-label": title }, arcs, table)
  const attends = el("span")
  const said = el("p", { class: "attends" }, score, " ", attends)
  const own = ownSequence(board, () => board.painter.touch(panel))
  panel.tools.append(own.form)
  panel.body.append(sheet, said, own.problem)
  let pointed = null // the query that the reader points at
  panel.concerns = (news) => Boolean(news.snapshots?.length)

  const point = (query) => {
    if (query === pointed) return
    pointed = query
    attend()
  }
  sheet.onmouseleave = () => point(null)

  /** Arcs from one query to the keys that it attends to, in the head that is enlarged below. */
  const attend = () => {
    const shown = own.snapshot() ?? board.snapshot()
    const { which, layer, head } = headShown(board, shown)
    const grid = shown?.patterns[which]
    arcs.replaceChildren()
    attends.textContent = ""
    if (!grid || grid.block.some((cells) => cells > 1)) return
    const query = pointed ?? lastAsked(shown.samples[0])
    const row = matrixOf(grid, layer * grid.shape[1] + head)[query]
    const cell = (kind, place) => table.querySelector(`[data-${kind}="${place}"]`)
    const from = cell("reads", query)
    if (!row || !from) return
    const middle = (node) => node.offsetLeft + node.offsetWidth / 2
    arcs.setAttribute("width", table.offsetWidth)
    const kind = which === "cross" ? "source" : "reads"
    table.querySelectorAll(".pointed").forEach((node) => node.classList.remove("pointed"))
    from.classList.add("pointed")
    row.forEach((weight, key) => {
      const to = cell(kind, key)
      if (!to || weight < FAINTEST) return
      const [x0, x1] = [middle(from), middle(to)]
      const height = Math.min(30, 10 + Math.abs(x1 - x0) / 8)
      const d = x0 === x1 ? `M${x0 - 5} 33 C${x0 - 9} 14 ${x0 + 9} 14 ${x0 + 5} 33` : `M${x0} 33 Q${(x0 + x1) / 2} ${33 - 2 * height} ${x1} 33`
      arcs.append(drawing("path", { d, "stroke-width": 0.8 + 4 * weight, "stroke-opacity": Math.min(1, 0.15 + weight) }))
    })
    const best = row.indexOf(Math.max(...row))
    const names = kind === "source" ? shown.samples[0].source : shown.samples[0].tokens
    const where = grid.shape[0] * grid.shape[1] > 1 ? ` (layer ${layer + 1}, head ${head + 1})` : ""
    attends.textContent = `Position ${query} reads most from ${best}, a “${names[best] ?? best}”: ${number(row[best], 2)}${where}.`
  }

  panel.draw = () => {
    own.form.hidden = board.recorded() && board.shownStep() < board.status.step
    const shown = own.snapshot() ?? board.snapshot()
    const sample = shown?.samples[0]
    if (!sample) {
      table.replaceChildren()
      arcs.replaceChildren()
      score.textContent = attends.textContent = ""
      panel.wait.hidden = false
      return
    }
    panel.wait.hidden = true
    const marks = sample.marks.filter((mark) => mark != null)
    const whose = own.snapshot() ? "yours: " : ""
    score.textContent = `${whose}${marks.filter(Boolean).length} of ${marks.length} right, ${shown.step ? `step ${shown.step.toLocaleString("en")}` : "untrained"}.`
    table.replaceChildren(el("tbody", {}, ...stripRows(sample, point)))
    requestAnimationFrame(attend)
  }
  return panel
}

/** The rows of one sequence; the source of an encoder-decoder has a row of its own above. */
function stripRows(sample, point) {
  const cells = (kind, tokens, more = () => ({})) => tokens.slice(0, MOST_COLUMNS).map((token, place) =>
    el("td", { [`data-${kind}`]: place, onmouseenter: () => point(kind === "source" ? null : place), ...more(place) }, token))
  const row = (label, parts) => el("tr", {}, el("th", { scope: "row" }, label), ...parts)
  const judged = (place) => ({ class: { true: "right", false: "wrong" }[sample.marks[place]] ?? "unasked" })
  const signed = sample.predictions.map((token, place) => (sample.marks[place] == null ? "" : token))
  return [
    ...(sample.source.length ? [row("source", cells("source", sample.source))] : []),
    row("reads", cells("reads", sample.tokens)),
    row("must write", cells("must", sample.targets)),
    row("writes", cells("writes", signed, judged)),
  ]
}

const lastAsked = (sample) => Math.min(MOST_COLUMNS - 1, sample.marks.reduce((last, mark, place) => (mark == null ? last : place), 0))

/** The head that is enlarged in the attention panels, as far as the snapshot has it; else the last layer's first. */
function headShown(board, snapshot) {
  const names = Object.keys(snapshot?.patterns ?? {})
  const { which = names[0], layer = Infinity, head = 0 } = board.head ?? {}
  const kind = which !== "encoder" && names.includes(which) ? which : names.includes("cross") ? "cross" : names[0]
  const [layers, heads] = snapshot?.patterns[kind]?.shape ?? [1, 1]
  return { which: kind, layer: Math.min(layer, layers - 1), head: Math.min(head, heads - 1) }
}

/** The box for a sequence of the reader's own. It is answered by the untrained model, or by the run's once the run has ended. */
function ownSequence(board, changed) {
  const input = el("input", { type: "text", "aria-label": "Your own sequence", placeholder: "your own sequence", size: 16, maxlength: 2000 })
  const problem = el("p", { class: "problem", role: "alert", hidden: true })
  const form = el("form", { class: "own" }, input, el("button", { type: "submit" }, "Try"))
  let [found, askedFor] = [null, ""]

  const ended = () => board.ended() && board.shownStep() === board.status.step // a recording has ended once its last step is shown
  const subject = () => (board.data.run ? (ended() ? `run=${encodeURIComponent(board.data.run)}` : "") : board.data.untrained)
  const say = (sentence) => {
    problem.textContent = sentence
    problem.hidden = !sentence
  }
  const ask = async () => {
    const [text, of] = [input.value.trim(), subject()]
    found = null
    say("")
    askedFor = text && of ? `${of}\n${text}` : ""
    if (text && !of) say("Your own sequence is answered once the run has ended.")
    if (!askedFor) return changed()
    const mine = askedFor
    const answer = await fetch(new URL(`own?${of}&text=${encodeURIComponent(text)}`, appAddress())).catch(() => null)
    if (mine !== askedFor) return
    const told = answer?.ok ? await answer.json() : { problem: "The server cannot be reached." }
    if (told.snapshot) found = told.snapshot
    else say(told.problem)
    changed()
  }
  form.onsubmit = (event) => {
    event.preventDefault()
    ask()
  }
  /** The answer, as long as it is one to the present text and model; otherwise it is asked for anew. */
  const snapshot = () => {
    const text = input.value.trim()
    if (found && askedFor !== `${subject()}\n${text}`) {
      found = null
      if (subject()) ask()
    }
    return found
  }
  return { form, problem, snapshot }
}
