// What the picture and the boxes at its parts say.

import { MOST_POSITIONS } from "./layout.js"
import { questionOf } from "./looks.js"
import { headName } from "./seen.js"
import { plain } from "./sentence.js"
import { capital, changedAnswers, headInWords, scoreOf } from "./words.js"
import { inApp } from "../../../shell/script/dom.js"

/** @import { Answered, Looks, Wish } from "./looks.js" */
/** @import { BoxWords, Choice } from "./popover.js" */
/** @import { Act, Grid, Head, Model, Part, PartAt, Sample, Sentence, Snapshot, Words } from "../types.d.ts" */

/**
 * How many answers are right, of which model.
 *
 * @param {Snapshot | undefined} snapshot
 * @param {Answered | null} look
 * @param {Sample} sample
 */
export function resultOf(snapshot, look, sample) {
  const when = snapshot?.step ? `step ${snapshot.step.toLocaleString("en")}` : "untrained"
  return `${look?.wish.typed ? "yours: " : ""}${scoreOf(sample)}, ${when}.`
}

/**
 * The sentence and the issue that it links: of what was changed, or else of the position that is followed.
 *
 * @param {Model} model
 * @param {Answered | null} look
 * @param {Sample} sample
 * @param {Words[]} reads what is said of the position
 * @returns {{words: Words[], details?: string, issue: Sentence["issue"]}}
 */
export function toldOf(model, look, sample, reads) {
  const taken = look?.wish.moved ? null : look?.snapshot.taken
  const shorter = newLength(model, sample)
  if (taken) {
    return { words: [plain(`${shorter} `), ...taken.words], details: taken.details, issue: issueOf(model.parts.head) }
  }
  const change = look && changeWords(model, look, sample)
  if (change) return { words: [plain(change.sentence)], issue: change.issue }
  const made = madeWithout(model)
  const count = sample.tokens.length
  const before = inOne([shorter, made?.sentence])
  const after = inOne([
    model.changed && "The settings have changed since: Train shows their model.",
    count > MOST_POSITIONS && `The last ${MOST_POSITIONS} of ${count} positions are drawn.`,
  ])
  return { words: [plain(`${before} `), ...reads, plain(` ${after}`)], issue: made?.issue ?? null }
}

const SIDES = { "": "in the decoder", e: "in the encoder" }

/**
 * What the box at a part says and offers.
 *
 * @param {PartAt} at
 * @param {Object} told
 * @param {Model} told.model
 * @param {Pick<Looks, "away" | "turn" | "whyNot">} told.looks
 * @param {Head | null} told.only the one head whose arcs are drawn
 * @param {Grid | null} told.grid the attention of the part's kind
 * @param {number | null | undefined} told.place the layer's place in it
 * @param {(() => void) | undefined} told.large shows the head large
 * @param {(head: Head | null) => void} told.alone draws the arcs of one head alone, or of all
 * @param {(does: Act) => void} told.act asks the page to change settings
 * @returns {BoxWords}
 */
export function partWords(at, { model, looks, only, grid, place, large, alone, act }) {
  const part = model.parts[at.kind]
  /** @type {Choice[]} */
  const buttons = cutsOf(at, model).map(({ names, side }) => {
    const away = names.every(looks.away)
    return {
      label: `${away ? "Put it back" : "Take it away"}${side && ` ${side}`}`,
      act: () => looks.turn(names),
      why: looks.whyNot(),
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
    if (grid && place != null && grid.block.every((cells) => cells === 1)) {
      notes.push(headInWords(grid, place * model.heads + head.head))
    }
  }
  if (part.expects && cutsOf(at, model).some(({ names }) => names.every(looks.away))) notes.push(part.expects)
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
    const layer = ["layer", "row"].includes(part.place) ? head.layer : null
    return cutsOf({ kind, layer, head: kind === "head" ? head : null }, model)[0]?.names ?? []
  })
}

/**
 * The title of a part at its place.
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
  const [takes, place = "", head] = name.split(".")
  const part = /** @type {Part} */ (Object.values(model.parts).find((one) => one.takes === takes))
  const layer = place ? Number(place.replace(/\D/g, "")) : null
  const words = titleOf(part, layer, Number(head ?? 0))
  const side = place.startsWith("e") ? " of the encoder" : place.startsWith("c") ? " (cross-attention)" : ""
  return { part, words: words.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase()) + side }
}

/**
 * The answers that differ from those before the last change; of two symbols that carry their answers with them, those
 * at the other places. Null where nothing was changed.
 *
 * @param {Model} model
 * @param {Pick<Answered, "wish" | "before">} look
 * @param {Sample} sample
 * @returns {{places: number[], of: number, others: boolean} | null}
 */
export function changesOf(model, { wish, before }, sample) {
  const earlier = before?.samples[0]
  if (!earlier) return null
  const others = wish.moved && model.question === "all" && earlier.predictions.length === sample.predictions.length
  return { ...changedAnswers(earlier, sample, others ? movedPlaces(model, wish, sample) : []), others }
}

/**
 * The positions of the two symbols that changed places last.
 *
 * @param {Model} model
 * @param {Wish} wish
 * @param {Sample} sample
 */
function movedPlaces(model, { swaps }, sample) {
  const { first } = questionOf(model, sample)
  return swaps[swaps.length - 1].map((place) => first + place).sort((one, other) => one - other)
}

/**
 * The sentence on what was changed and what became of the answers, and the issue that asks it; null where nothing was
 * changed.
 *
 * @param {Model} model
 * @param {Pick<Answered, "wish" | "before">} look
 * @param {Sample} sample
 * @returns {Sentence | null}
 */
export function changeWords(model, look, sample) {
  const { wish, before } = look
  const away = wish.without.map((name) => partNamed(name, model))
  const gone = away.length ? `Taken away: ${away.map(({ words }) => words).join(", ")}.` : ""
  const found = changesOf(model, look, sample)
  const some = found?.places.length
  const where = found?.others ? " at the other places" : " here"
  const verdict = found &&
    (some ? `${some} of ${found.of} answers changed${where} (outlined)` : `no answer changed${where}`)
  if (wish.moved) {
    const [one, other] = movedPlaces(model, wish, sample)
    const blind = model.parts.encoding && (model.parts.encoding.off || wish.without.includes("encoding"))
    const parts = [
      newLength(model, sample),
      `Symbols ${one + 1} and ${other + 1} have changed places${verdict ? `: ${verdict}` : ""}.`,
      blind && !some && "Without positions the order of the symbols does not count.",
      gone,
    ]
    return { sentence: inOne(parts), issue: blind ? issueOf(model.parts.encoding) : null }
  }
  const latest = away[away.length - 1]
  if (!latest) return null
  const { part } = latest
  const score = before && some ? `; ${scoreOf(before.samples[0])} with ${away.length > 1 ? "them" : "it"}` : ""
  const shorter = newLength(model, sample)
  const parts = [shorter, gone, verdict && `${capital(verdict)}${score}.`, !some && !shorter && part.spare]
  return { sentence: inOne(parts), issue: issueOf(part) }
}

const inOne = (/** @type {(string | false | null | undefined)[]} */ sentences) => sentences.filter(Boolean).join(" ")

/** The sentence on the lengths in training where a sequence is shorter than all of them. */
export const newLength = (/** @type {Model} */ model, /** @type {Sample} */ sample) =>
  questionOf(model, sample).symbols.length < model.shortest ? model.lengths : ""

/** Whose the other figures are, where the picture shows something else. */
export function whoseFigures(/** @type {Wish | undefined} */ wish) {
  if (!wish) return ""
  const [own, whole] = [wish.typed || wish.swaps.length, wish.without.length]
  if (own) return `Of the run’s own sequence${whole ? ", nothing taken away" : ""}.`
  return whole ? "Of the whole model, nothing taken away." : ""
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
    issue && { href: inApp(`issues?issue=${encodeURIComponent(issue.slug)}`), title: issue.title }
  )
}
