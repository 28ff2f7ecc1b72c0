// What the picture says: the line above it, the boxes at its parts, the numbers under the pointer.

import { matrixOf } from "../data.js"
import { rovingFocus } from "./controls.js"
import { arcAt } from "./curves.js"
import { columnAt, heightOf, MAX_DRAWN_POSITIONS } from "./layout.js"
import { questionOf } from "./interventions.js"
import { headName, symbolsOf } from "./weights.js"
import { drawing, el, inApp, number } from "../../../base/script/dom.js"

/** @import { BoxWords, Choice } from "./controls.js" */
/** @import { Layout } from "./layout.js" */
/** @import { Answered, Interventions, Wish } from "./interventions.js" */
/** @import { Arc, Hop, Readout, Weights } from "./weights.js" */
/** @import { Act, At, Exact, Grid, Head, Model, Part, PartAt, Sample, Sentence, Snapshot, Words } from "../types.d.ts" */

/**
 * How many answers are right, of which model.
 *
 * @param {Snapshot | undefined} snapshot
 * @param {Answered | null} answered
 * @param {Sample} sample
 */
export function resultOf(snapshot, answered, sample) {
  const when = snapshot?.step ? `step ${snapshot.step.toLocaleString("en")}` : "untrained"
  return `${answered?.wish.typed ? "yours: " : ""}${scoreOf(sample)}, ${when}.`
}

/**
 * The sentence and the issue that it links: of what was changed, or else of the position that is followed.
 *
 * @param {Model} model
 * @param {Answered | null} answered
 * @param {Sample} sample
 * @param {Words[]} reads what is said of the position
 * @returns {{words: Words[], details?: string, issue: Sentence["issue"]}}
 */
export function captionOf(model, answered, sample, reads) {
  const ablation = answered?.wish.moved ? null : answered?.snapshot.ablation
  const shorter = newLength(model, sample)
  if (ablation) {
    return {
      words: [plain(`${shorter} `), ...ablation.words],
      details: ablation.details,
      issue: issueOf(model.parts.head),
    }
  }
  const change = answered && changeWords(model, answered, sample)
  if (change) return { words: [plain(change.sentence)], issue: change.issue }
  const made = madeWithout(model)
  const count = sample.tokens.length
  const before = inOne([shorter, made?.sentence])
  const after = inOne([
    model.changed && "The settings have changed. Press Train for their model.",
    count > MAX_DRAWN_POSITIONS && `The last ${MAX_DRAWN_POSITIONS} of ${count} positions are drawn.`,
  ])
  return { words: [plain(`${before} `), ...reads, plain(` ${after}`)], issue: made?.issue ?? null }
}

const SIDES = { "": "in the decoder", e: "in the encoder" }

/**
 * What the box at a part says and offers.
 *
 * @param {PartAt} at
 * @param {Object} given
 * @param {Model} given.model
 * @param {Pick<Interventions, "isAblated" | "toggle" | "whyNot">} given.interventions
 * @param {Head | null} given.only the one head whose arcs are drawn
 * @param {Grid | null} given.grid the attention of the part's kind
 * @param {number | null | undefined} given.index the layer's index in it
 * @param {(() => void) | undefined} given.large shows the head large
 * @param {(head: Head | null) => void} given.alone draws the arcs of one head alone, or of all
 * @param {(does: Act) => void} given.act asks the page to change settings
 * @param {(() => void) | undefined} given.apart takes the head apart, where the page can
 * @returns {BoxWords}
 */
export function partWords(at, { model, interventions, only, grid, index, large, alone, act, apart }) {
  const part = model.parts[at.kind]
  /** @type {Choice[]} */
  const buttons = cutsOf(at, model).map(({ names, side }) => {
    const away = names.every(interventions.isAblated)
    return {
      label: `${away ? "Put it back" : "Remove it"}${side && ` ${side}`}`,
      act: () => interventions.toggle(names),
      why: interventions.whyNot(),
    }
  })
  /** @type {string[]} */
  const notes = []
  const { head } = at
  if (head) {
    const mine = only && only.which === head.which && only.layer === head.layer && only.head === head.head
    if (model.heads > 1 || mine) {
      buttons.push(
        mine ? { label: "All heads", act: () => alone(null) } : { label: "Its arcs alone", act: () => alone(head) },
      )
    }
    if (large) buttons.push({ label: "Show large", act: large })
    if (apart) buttons.push({ label: "Take it apart", act: apart })
    if (grid && index != null && grid.block.every((cells) => cells === 1)) {
      notes.push(headInWords(grid, index * model.heads + head.head))
    }
  }
  if (part.expects && cutsOf(at, model).some(({ names }) => names.every(interventions.isAblated))) {
    notes.push(part.expects)
  }
  if (part.off) notes.push("This model was made without it.")
  if (part.fault) notes.push("In this model it is broken.")
  const { trains } = part
  if (trains) buttons.push({ label: trains.label, act: () => act({ set: trains.set }) })
  if (part.opens) buttons.push({ label: "Settings", act: () => act({ open: part.opens }) })
  return { title: titleOf(part, at.layer, head?.head), says: part.says, notes, buttons }
}

/** The names of what can be taken away at a part, for each stack that has it. */
function cutsOf(/** @type {PartAt} */ { kind, layer, head }, /** @type {Model} */ model) {
  const { takes } = model.parts[kind]
  if (!takes) return []
  if (head) return [{ names: [headName(head)], side: "" }]
  if (layer == null) return [{ names: [takes], side: "" }]
  const several = model.stacks.length > 1
  return model.stacks.map(({ prefix }) => ({
    names: [`${takes}.${prefix}${layer}`],
    side: several ? SIDES[prefix] : "",
  }))
}

const BY_KEY = ["skip", "head", "mlp", "encoding", "norm", "mask", "cell"]

/**
 * What a presenter's key takes away, one after another: the skip connection of the layer that brings the answer, the
 * head that does, and what else there is.
 */
export function partsByKey(/** @type {Model} */ model, /** @type {Head} */ head) {
  return BY_KEY.flatMap((kind) => {
    const part = model.parts[kind]
    if (!part || part.off || part.fault || (kind === "head" && !model.heads)) return []
    const layer = ["layer", "row"].includes(part.slot) ? head.layer : null
    return cutsOf({ kind, layer, head: kind === "head" ? head : null }, model)[0]?.names ?? []
  })
}

/**
 * The title of a part with its numbers.
 *
 * @param {Part} part
 * @param {number | null} layer
 * @param {number} [head]
 */
function titleOf({ title }, layer, head = 0) {
  return title.replace("{layer}", `${(layer ?? 0) + 1}`).replace("{head}", `${head + 1}`)
}

/** The part that a name stands for. */
export function partNamed(/** @type {string} */ name, /** @type {Model} */ model) {
  const [takes, layerName = "", head] = name.split(".")
  const part = /** @type {Part} */ (Object.values(model.parts).find((one) => one.takes === takes))
  const layer = layerName ? Number(layerName.replace(/\D/g, "")) : null
  const words = titleOf(part, layer, Number(head ?? 0))
  const side = layerName.startsWith("e") ? " of the encoder" : layerName.startsWith("c") ? " (cross-attention)" : ""
  return { part, words: words.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase()) + side }
}

/**
 * The answers that differ from those before the last change; of two symbols that carry their answers with them, those
 * at the other places. Null where nothing was changed.
 *
 * @param {Model} model
 * @param {Pick<Answered, "wish" | "before">} answered
 * @param {Sample} sample
 * @returns {{positions: number[], of: number, others: boolean} | null}
 */
export function changesOf(model, { wish, before }, sample) {
  const earlier = before?.samples[0]
  if (!earlier) return null
  const others = wish.moved && model.question === "all" && earlier.predictions.length === sample.predictions.length
  return { ...changedAnswers(earlier, sample, others ? movedPositions(model, wish, sample) : []), others }
}

/**
 * The positions of the two symbols that changed places last.
 *
 * @param {Model} model
 * @param {Wish} wish
 * @param {Sample} sample
 */
function movedPositions(model, { swaps }, sample) {
  const { first } = questionOf(model, sample)
  return swaps[swaps.length - 1].map((position) => first + position).sort((one, other) => one - other)
}

/**
 * The sentence on what was changed and what became of the answers, and the issue that asks it; null where nothing was
 * changed.
 *
 * @param {Model} model
 * @param {Pick<Answered, "wish" | "before">} answered
 * @param {Sample} sample
 * @returns {Sentence | null}
 */
export function changeWords(model, answered, sample) {
  const { wish, before } = answered
  const ablated = wish.ablated.map((name) => partNamed(name, model))
  const list = ablated.length ? `Removed: ${ablated.map(({ words }) => words).join(", ")}.` : ""
  const found = changesOf(model, answered, sample)
  const some = found?.positions.length
  const where = found?.others ? " at the other places" : " here"
  const verdict = found &&
    (some ? `${some} of ${found.of} answers changed${where} (outlined)` : `no answer changed${where}`)
  if (wish.moved) {
    const [one, other] = movedPositions(model, wish, sample)
    const blind = model.parts.encoding && (model.parts.encoding.off || wish.ablated.includes("encoding"))
    const parts = [
      newLength(model, sample),
      `Symbols ${one + 1} and ${other + 1} are swapped${verdict ? `: ${verdict}` : ""}.`,
      blind && !some && "Without a positional encoding, the model does not know the order.",
      list,
    ]
    return { sentence: inOne(parts), issue: blind ? issueOf(model.parts.encoding) : null }
  }
  const latest = ablated[ablated.length - 1]
  if (!latest) return null
  const { part } = latest
  const score = before && some ? `; ${scoreOf(before.samples[0])} with ${ablated.length > 1 ? "them" : "it"}` : ""
  const shorter = newLength(model, sample)
  const parts = [shorter, list, verdict && `${capital(verdict)}${score}.`, !some && !shorter && part.spare]
  return { sentence: inOne(parts), issue: issueOf(part) }
}

const inOne = (/** @type {(string | false | null | undefined)[]} */ sentences) => sentences.filter(Boolean).join(" ")

/** The sentence on the lengths in training where a sequence is shorter than all of them. */
export const newLength = (/** @type {Model} */ model, /** @type {Sample} */ sample) =>
  questionOf(model, sample).symbols.length < model.shortest ? model.lengths : ""

/** Whose the other figures are, where the picture shows something else. */
export function whoseFigures(/** @type {Wish | undefined} */ wish) {
  if (!wish) return ""
  const [sequence, parts] = [wish.typed || wish.swaps.length, wish.ablated.length]
  if (sequence) return `Of the run’s own sequence${parts ? ", nothing removed" : ""}.`
  return parts ? "Whole model, nothing removed." : ""
}

/** The sentence on what the model was made without, and the issue that asks it; null where it has everything. */
export function madeWithout(/** @type {Model} */ model) {
  const parts = Object.values(model.parts)
  const part = parts.find(({ fault }) => fault) ?? parts.find(({ off }) => off)
  if (!part) return null
  return {
    sentence: part.fault ? `In this model ${part.noun} is broken.` : `This model has no ${part.noun}.`,
    issue: issueOf(part),
  }
}

/** The link to the issue that asks a part. */
function issueOf(/** @type {Part} */ { issue }) {
  return (
    issue && { href: inApp(`questions?issue=${encodeURIComponent(issue.slug)}`), title: issue.title }
  )
}

const FEW = 0.005 // a share below it is written as 0

/** A share in whole per cent. */
export const percent = (/** @type {number} */ share) => `${Math.round(100 * (share < FEW ? 0 : share))} %`

/** A share that is known exactly: with a decimal where it is near all, so that it is never rounded to all. */
export const exactPercent = (/** @type {number} */ share) =>
  share >= 0.985 && share < 1 ? `${Math.min(99.9, 100 * share).toFixed(1)} %` : percent(share)

/**
 * A position in words: the first, the last, or its number, counted from 1.
 *
 * @param {number} position
 * @param {number} count
 */
export function positionInWords(position, count) {
  if (position === 0) return "the first position"
  return position === count - 1 ? "the last position" : `position ${position + 1}`
}

/** A text with a capital letter first. */
const capital = (/** @type {string} */ text) => text.charAt(0).toUpperCase() + text.slice(1)

/**
 * The sentence on what a position reads most, and the position that it reads.
 *
 * @param {{position: number}} chosen
 * @param {Weights | null} weights of the attention that is spoken of
 * @param {number} layer the layer that is spoken of
 * @param {string[]} names the symbols that are read
 * @param {{size: number, same: boolean, from: string}} more how many positions its stack has; whether they are the
 *   ones that are read; whose attention it is, in words
 * @returns {{sentence: string, key: number | null}}
 */
export function readingOf({ position }, weights, layer, names, { size, same, from }) {
  const matrix = weights?.layers[layer]
  const query = position - (weights?.firstQuery ?? 0)
  if (!matrix || query < 0 || query >= weights.queries) return { sentence: "", key: null }
  const row = matrix.subarray(query * weights.keys, (query + 1) * weights.keys)
  const most = row.reduce((best, weight, at) => (weight > row[best] ? at : best), 0)
  if (!(row[most] > 0)) return { sentence: "", key: null }
  const key = weights.firstKey + most
  const reads = capital(positionInWords(position, size))
  const itself = same && key === position ? "itself" : positionInWords(key, names.length)
  return {
    sentence: `${reads} reads ${itself}, ${withArticle(names[key])}: attention weight ${percent(row[most])}${from}.`,
    key,
  }
}

/** A symbol in words: a “3”, an “8”. */
const withArticle = (/** @type {string} */ name) => `${/^([8aeio]|1[18]$)/i.test(name) ? "an" : "a"} “${name}”`

/**
 * The sentence on what the chosen position reads in the last layer, or in the one head that is drawn, and the symbol
 * that it reads most.
 *
 * @param {{model: Model, readout: Readout, sample: Sample}} drawn
 * @param {At} chosen
 * @returns {{sentence: string, read: At | null}}
 */
export function readingIn({ model, readout, sample }, chosen) {
  if (!model.heads) {
    return { sentence: Object.values(model.parts).find(({ slot }) => slot === "row")?.says ?? "", read: null }
  }
  if (!readout.known) return { sentence: "", read: null }
  const { only } = readout
  const answers = model.kinds.includes("cross") ? "cross" : "self"
  const which = chosen.kind === "source" ? "encoder" : only && only.which !== "encoder" ? only.which : answers
  const alone = only?.which === which ? only : null
  const layer = alone?.layer ?? readout.indices(which).findLastIndex((index) => index != null)
  const heads = alone ? `head ${alone.head + 1}` : model.heads > 1 ? "all heads" : ""
  const whose = [heads, model.layers > 1 ? `layer ${layer + 1}` : ""].filter(Boolean).join(" of ")
  const from = whose && ` (${whose})`
  const kind = which === "self" ? "reads" : "source"
  const size = symbolsOf(sample, chosen.kind).length
  const { sentence, key } = readingOf(chosen, readout.weights(which), layer, symbolsOf(sample, kind), {
    size,
    same: which !== "cross",
    from,
  })
  return { sentence, read: key == null ? null : { kind, position: key } }
}

/**
 * The numbers at a point of the picture: of the arc that passes there, else of the stream.
 *
 * @param {{model: Model, readout: Readout, sample?: Sample, arcs: Arc[], hops: Hop[]}} drawn
 * @param {Layout} layout
 * @param {number} x
 * @param {number} y
 * @returns {string} empty where there is nothing
 */
export function numbersAt({ model, readout, sample, arcs, hops }, layout, x, y) {
  if (!sample) return ""
  const named = (/** @type {At["kind"]} */ kind, /** @type {number} */ position) => {
    const all = symbolsOf(sample, kind)
    return `${positionInWords(position, all.length)} “${all[position]}”`
  }
  const hop = arcAt(hops, layout, x, y)
  const arc = hop ?? arcAt(arcs, layout, x, y)
  if (arc) {
    const query = named(arc.kind === "encoder" ? "source" : "reads", arc.query)
    const key = named(arc.kind === "self" ? "reads" : "source", arc.key)
    const head = hop && model.heads > 1 ? `, head ${hop.head + 1}` : ""
    const reads = `Layer ${arc.layer + 1}${head}: ${query} reads ${key}`
    return Number.isFinite(arc.weight) ? `${reads}, attention weight ${percent(arc.weight)}` : reads
  }
  const { kind, position } = columnAt(layout, x)
  const state = Math.round((heightOf(layout, 0) - y) / (layout.row + layout.strip))
  const norm = readout.norms(kind === "source" ? "encoder" : "self")[state]?.[position]
  if (norm == null || state > model.layers) return ""
  const right = kind === "reads" && sample.marks[position] != null ? readout.rights[state]?.[position] : null
  const where = state ? `After layer ${state}` : "Before the first layer"
  const likely = right == null ? "" : `; the right answer has ${exactPercent(right)}`
  return `${where}, ${named(kind, position)}: a vector of length ${number(norm)}, shown by the bar’s thickness${likely}`
}

/**
 * What one head reads, in words, over all positions: where most of them look, as a distance or as one position.
 *
 * @param {Grid | Exact} grid a grid [layer, head, query, key]
 * @param {number} index the head's index among all heads
 */
export function headInWords(grid, index) {
  const rows = matrixOf(grid, index).filter((row) => row.some((weight) => weight > 0))
  const keys = rows.map((row) => row.indexOf(Math.max(...row)))
  const sharp = rows.reduce((sum, row, at) => sum + row[keys[at]], 0) / Math.max(1, rows.length)
  if (sharp < 0.3) {
    return `Each position reads many others a little. Its largest weight is ${percent(sharp)} on average.`
  }
  const share = (/** @type {(key: number, query: number) => boolean} */ test) =>
    keys.filter((key, query) => test(key, query)).length / keys.length
  const named = (/** @type {number} */ key) => positionInWords(key, grid.shape[3])
  const one = mostFrequent(keys)
  const back = mostFrequent(keys.map((key, query) => query - key))
  const near = `the one ${counted(Math.abs(back))} ${back > 0 ? "before" : "after"} it`
  const sum = mostFrequent(keys.map((key, query) => query + key))
  const ofLast = sum - (grid.shape[2] - 1)
  const mirrored = ofLast >= 0 && ofLast < grid.shape[3] ? ` (the last looks at ${named(ofLast)})` : ""
  /** @type {[number, string][]} */
  const shares = [
    [share((key, query) => query - key === back), `looks at ${back === 0 ? "itself" : near}`],
    [share((key) => key === one), `looks at ${named(one)}`],
    [share((key, query) => query + key === sum), `looks at its mirror position${mirrored}`],
  ]
  const [most, habit] = shares.sort((a, b) => b[0] - a[0])[0]
  return most < 0.4
    ? "Its positions look at different places."
    : `${percent(most)} of the positions do the same: each ${habit}.`
}

const counted = (/** @type {number} */ distance) => (distance === 1 ? "one place" : `${distance} places`)

/** The number that is there most often; 0 where there is none. */
function mostFrequent(/** @type {number[]} */ values) {
  /** @type {Map<number, number>} */
  const times = new Map()
  values.forEach((value) => times.set(value, (times.get(value) ?? 0) + 1))
  return [...times].sort((a, b) => b[1] - a[1])[0]?.[0] ?? 0
}

/** The number of right answers in words. */
export function scoreOf(/** @type {Pick<Sample, "marks">} */ sample) {
  const marks = sample.marks.filter((mark) => mark != null)
  return `${marks.filter(Boolean).length} of ${marks.length} right`
}

/**
 * The positions of the answers that are written otherwise than before, and how many answers were compared.
 *
 * @param {Pick<Sample, "predictions" | "marks">} before
 * @param {Pick<Sample, "predictions" | "marks">} after
 * @param {number[]} but positions that do not count
 */
export function changedAnswers(before, after, but = []) {
  const answered = after.marks
    .map((mark, position) => (mark == null || but.includes(position) ? null : position))
    .filter((position) => position != null)
  const positions = answered.filter((position) => before.predictions[position] !== after.predictions[position])
  return { positions, of: answered.length }
}

/**
 * What the line says, the numbers behind it, the issue that it links, and what can be done about it.
 *
 * @typedef {{words: Words[], details?: string, issue: Sentence["issue"], act?: {label: string, does: () => void} | null}} Caption
 */

/** Words that name no part. */
export const plain = (/** @type {string} */ text) => ({ text, part: "" })

/**
 * The line. `onPart` is called with the name of a part that was pressed, `inWords` says which it is. A piece keeps its
 * element, and so the focus, as long as it is of the same kind.
 *
 * @param {(name: string) => void} onPart
 * @param {(name: string) => string} inWords
 */
export function sentenceLine(onPart, inWords) {
  const [score, words] = [el("span", { class: "score" }), el("span", { class: "words" })]
  const link = el("a", { target: "_blank", rel: "noopener", hidden: true })
  const button = el("button", { type: "button", class: "take", hidden: true })
  const root = el("p", { class: "attends" }, score, " ", words, " ", link, " ", button)
  const focus = rovingFocus(words, ".named")
  const piece = (/** @type {Words} */ { part }, /** @type {Element | undefined} */ there) => {
    const tag = part ? "BUTTON" : "SPAN"
    if (there?.tagName === tag) return /** @type {HTMLElement} */ (there)
    const made = part
      ? el("button", { type: "button", class: "named", tabindex: -1, onclick: () => onPart(made.dataset.name ?? "") })
      : el("span")
    return made
  }
  const say = (/** @type {string} */ result, /** @type {Caption} */ { words: pieces, details = "", issue, act }) => {
    if (score.textContent !== result) score.textContent = result
    words.title = details
    while (words.children.length > pieces.length) words.lastElementChild?.remove()
    pieces.forEach((one, at) => {
      const there = words.children[at]
      const node = piece(one, there)
      if (node.textContent !== one.text) node.textContent = one.text
      if (one.part && node.dataset.name !== one.part) {
        node.dataset.name = one.part
        node.ariaLabel = inWords(one.part)
      }
      if (!there) words.append(node)
      else if (node !== there) there.replaceWith(node)
    })
    focus.refresh()
    link.hidden = !issue
    if (issue) Object.assign(link, { href: issue.href, textContent: issue.title })
    button.hidden = !act
    if (act) Object.assign(button, { textContent: act.label, onclick: act.does })
  }
  return { root, say, text: () => root.textContent }
}

/** Lights all that has the name of what is under the pointer, has the focus or was touched: parts, words and arcs. */
export function lightNames(/** @type {HTMLElement} */ root) {
  const light = (/** @type {EventTarget | null} */ target) => {
    const named = target instanceof Element ? /** @type {HTMLElement | null} */ (target.closest("[data-name]")) : null
    for (const node of root.querySelectorAll("[data-name]")) {
      const { name } = /** @type {HTMLElement} */ (node).dataset
      node.classList.toggle("lit", Boolean(name) && name === named?.dataset.name)
    }
  }
  root.addEventListener("pointerover", ({ target }) => light(target))
  root.addEventListener("focusin", ({ target }) => light(target))
  root.addEventListener("focusout", () => light(null))
  root.addEventListener("pointerleave", ({ pointerType }) => pointerType === "mouse" && light(null))
}

const NAMED = "Two grey bars; an arc from the first to the second; next to them a head and the bar of the answer"

/** The words of the box, a line for each thing that the picture shows. */
export function helpWords(/** @type {string} */ title, /** @type {string} */ help) {
  return { title, says: help.split(/(?<=\.) (?=\S)/), picture: miniature, buttons: [] }
}

/** The button that opens it. */
export const helpButton = (/** @type {string} */ words, /** @type {(node: HTMLElement) => void} */ open) => {
  const named = { title: words, "aria-label": words, "aria-expanded": false }
  const onclick = (/** @type {Event} */ { currentTarget }) => open(/** @type {HTMLElement} */ (currentTarget))
  return el("button", { type: "button", class: "term", ...named, onclick }, "?")
}

/** A small picture of one layer and two positions, drawn as in the large one. */
function miniature() {
  const path = (/** @type {string} */ d, /** @type {number} */ width) => drawing("path", { d, "stroke-width": width })
  const name = (/** @type {string} */ text, /** @type {number} */ x, /** @type {number} */ y) =>
    drawing("text", { x, y, "text-anchor": "middle" }, text)
  const box = (/** @type {string} */ kind, /** @type {number} */ x, /** @type {number[]} */ [y, width, height]) =>
    drawing("rect", { class: kind, x, y, width, height, rx: 2 })
  const cells = [0, 1, 2].map((at) => box("cell", 170 + 8 * at, [36 + 8 * at, 8, 8]))
  return drawing(
    "svg",
    { class: "mini", viewBox: "0 0 300 92", role: "img", "aria-label": NAMED },
    drawing("g", { class: "streams" }, path("M40 74V6", 3), path("M110 74V40", 3), path("M110 40V6", 6)),
    drawing("g", { class: "arcs" }, path("M40 68C40 40 110 68 110 40", 3)),
    box("tile", 170, [36, 24, 24]),
    ...cells,
    box("room", 226, [40, 48, 14]),
    box("full", 226, [40, 36, 14]),
    ...[name("grey bar", 40, 88), name("arc", 74, 48), name("head", 182, 74), name("right answer", 250, 70)],
  )
}
