// The picture of the whole model and one sequence: from the symbols through all layers and heads to what is written.
// It is a control: a click on a part says what it does and takes it away; symbols change places by dragging.

import { newPresses } from "../../../shell/script/presses.js"
import { chosenIn, hopsOf, leadingTo, numbersAt, readingIn, rightAfter } from "./chosen.js"
import { helpButton, helpWords } from "./help.js"
import { firstsOf, layoutOf } from "./layout.js"
import { modelParts } from "./layers.js"
import { newLooks, questionOf } from "./looks.js"
import { ownSequence } from "./own.js"
import { pathsDrawing } from "./paths.js"
import { partBox } from "./popover.js"
import { changesOf, partNamed, partsByKey, partWords, resultOf, toldOf, whoseFigures } from "./said.js"
import { pictureAsSvg } from "./save.js"
import { headName, seenIn } from "./seen.js"
import { lightNames, plain, sentenceLine } from "./sentence.js"
import { symbolRows } from "./symbols.js"
import { newTip, runPanel } from "../card.js"
import { el } from "../../../shell/script/dom.js"
import { downloads } from "../../../shell/script/downloads.js"

/** @import { Arc, Hop, Stream } from "./flow.js" */
/** @import { Layout } from "./layout.js" */
/** @import { Answered } from "./looks.js" */
/** @import { Seen } from "./seen.js" */
/** @import { Act, At, Head, LiveBoard, Model, PartAt, Path, Sample, Snapshot } from "../types.d.ts" */

/**
 * What is drawn: of which model, snapshot and sample; what was looked at; what leads to the symbol that is followed, and
 * the hops of its answer.
 *
 * @typedef {{model: Model, snapshot?: Snapshot, sample?: Sample, seen: Seen, look: Answered | null, layout: Layout,
 *   arcs: Arc[], streams: Stream[], hops: Hop[]}} DrawnPicture
 */

const SLIM = 760 // below this width the sentence takes a line of its own
/**
 * The height below the drawing on a presented lab, in units of the page's letters, by beat of the step: the drawing keeps
 * its height from the run to the sentence, in whose beat the line of status above it has gone.
 */
const BELOW = { question: 6.4, guess: 10.6, run: 9.6, picture: 9.6, sentence: 11.6 }

/**
 * The panel of the picture. The page describes the model as `board.data.model`, as pages/parts/boards/live/stack.py
 * makes it.
 */
export function stackPanel(/** @type {LiveBoard} */ board) {
  const panel = runPanel(board, "stack", { plotted: false })
  const { title } = panel
  const touch = () => board.painter.touch(panel)
  const looks = newLooks(board, touch)
  const own = ownSequence(looks)
  /** @type {ReturnType<typeof newPresses<Act>>} */
  const presses = newPresses()
  const act = (/** @type {Act} */ asked) => {
    presses.confirm(board.data.model?.received ?? 0)
    board.trigger("act", presses.add(asked))
  }
  const sentence = sentenceLine(
    (name) => partOf(name)?.click(),
    (name) => drawn ? partNamed(name, drawn.model).words : "",
  )
  const paths = pathsDrawing()
  const alone = (/** @type {Head | null} */ head) => {
    view.only = head
    touch()
  }
  /** Show a head large in the panels of attention, where the board has them; here its arcs alone are drawn. */
  const enlarge = (/** @type {Head} */ head) => {
    board.enlarge?.(head)
    alone(head)
  }
  const open = (/** @type {PartAt} */ at, /** @type {HTMLElement} */ node) => {
    const { head } = at
    const words = () => {
      const { seen, model } = /** @type {DrawnPicture} */ (drawn)
      const shown = {
        grid: head && seen.grid(head.which),
        place: head && seen.places(head.which)[head.layer],
        large: head && board.enlarge ? () => enlarge(head) : undefined,
        only: seen.only,
      }
      return partWords(at, { model, looks, ...shown, alone, act })
    }
    if (drawn) box.show(node, words)
  }
  const parts = modelParts(open, enlarge)
  const symbols = symbolRows({
    onPoint: (at) => follow("pointed", at),
    onChoose: (at) => follow("chosen", at),
    onSwap: looks.swap,
  })
  const clear = () => {
    own.clear()
    looks.reset()
  }
  const reset = el("button", { type: "button", class: "reset", hidden: true, onclick: clear }, "Put all back")
  const picture = el("div", { class: "picture" }, paths.root, parts.root)
  panel.picture = () => pictureAsSvg(panel.body, [picture, symbols.root], board.theme, `${title}: ${sentence.text()}`)
  panel.tools.append(reset, own.form, downloads(board, panel))
  panel.tools.before(sentence.root, own.told)
  panel.body.prepend(picture, symbols.root)
  const tip = newTip(panel.body)
  const box = partBox(panel.body)
  lightNames(panel.root)
  const help = () => helpWords("How to read the picture", board.data.help ?? "")
  panel.heading.replaceChildren(`${title} `, helpButton(`What this means: ${title}`, (node) => box.show(node, help)))

  /**
   * The symbol that is followed, that under the pointer, the one head whose arcs are drawn, and the one to begin with
   * where no path of an answer is known.
   *
   * @type {{chosen: At | null, pointed: At | null, only: Head | null, first: Head | null}}
   */
  const view = { chosen: null, pointed: null, only: null, first: null }
  const partOf = (
    /** @type {string} */ name,
  ) => /** @type {HTMLElement | null} */ (parts.root.querySelector(`[data-name="${name}"]`))
  /** @type {DrawnPicture | null} */
  let drawn = null // what was drawn last
  let [built, subject] = ["", ""]

  const follow = (/** @type {"chosen" | "pointed"} */ how, /** @type {At | null} */ at) => {
    if (at?.kind === view[how]?.kind && at?.place === view[how]?.place) return
    view[how] = at
    if (drawn) attend(drawn)
  }

  panel.concerns = (news) => Boolean(news.snapshots?.length || Object.keys(news.columns ?? {}).length)
  panel.chooseHead = alone
  panel.look = ({ panel: shown = "attention", which = "self", layer, head = 0, without, swaps, marks = "" }) => {
    looks.reset(without, swaps)
    panel.root.dataset.marks = marks
    view.only = null
    view.first = layer != null && shown === "attention" ? { which, layer, head } : null
  }

  panel.draw = () => {
    const { model } = board.data
    const width = panel.body.clientWidth
    if (!model || !width) return
    beginAnew(model)
    const look = looks.seen()
    looks.followLinks()
    const snapshot = look?.snapshot ?? board.snapshot()
    const sample = snapshot?.samples[0]
    const only = view.only ?? (snapshot?.paths?.some(Boolean) ? null : view.first)
    const seen = seenIn(model, snapshot, { without: look?.wish.without ?? [], only })
    const tall = tallNow()
    const layout = layoutFor(model, sample, width, tall)
    drawn = { model, snapshot, sample, seen, look, layout, arcs: [], streams: [], hops: [] }
    panel.root.classList.toggle("slim", width < SLIM)
    board.canvas.classList.toggle("deep", model.layers > 2) // the figures below leave it room
    panel.root.style.setProperty("--lines", `${Math.min(3, model.layers)}`) // of the sentence, which tells a hop for each layer
    panel.wait.hidden = Boolean(sample)
    symbols.root.hidden = !sample
    if (sample) {
      const { places } = (look && changesOf(model, look, sample)) ?? { places: [] }
      symbols.draw(sample, layout, questionOf(model, sample), !looks.whyNot(), {
        before: look?.before?.samples[0],
        places,
      })
    }
    for (const other of board.panels) other.sayWhose(whoseFigures(look?.wish))
    box.refresh()
    const { without = [], swaps = [] } = board.data.look ?? {}
    reset.hidden = !looks.any() || without.length + swaps.length > 0 // the page puts back what it took away itself
    own.say(looks.problem(), looks.waits())
    sentence.root.hidden = Boolean(looks.problem())
    place(layout)
    attend(drawn)
    if (pointer) say()
    if (tall) setTimeout(() => Math.abs(tallNow() - tall) > 2 && touch(), 300) // what stands above it has moved it
  }
  /** The height that the drawing may fill in a room; 0 where the picture stands on a page among others. */
  const tallNow = () => {
    const { room } = board.data
    if (!room || innerWidth < SLIM) return 0
    const left = innerHeight - panel.body.getBoundingClientRect().top - BELOW[room] * pageLetter()
    return Math.max(120, Math.floor(left))
  }
  /** Build the parts where the model is another one; what was taken away was a part of the model before. */
  const beginAnew = (/** @type {Model} */ model) => {
    const labels = Object.values(model.parts).map(({ label }) => label)
    const structure = JSON.stringify([model.family, model.layers, model.heads, model.controls, labels])
    if (subject !== `${board.data.run}/${structure}`) {
      if (subject) looks.forget()
      Object.assign(view, { chosen: null, pointed: null })
      subject = `${board.data.run}/${structure}`
    }
    if (built === structure) return
    box.hide()
    parts.build(model)
    built = structure
  }
  const place = (/** @type {Layout} */ layout) => {
    const { left, middle, tiles, tile, gap, row } = layout
    for (const [name, value] of Object.entries({ left, middle, tiles, tile, gap, row })) {
      picture.style.setProperty(`--${name}`, `${value}px`)
    }
    picture.style.height = `${layout.height}px`
    picture.classList.toggle("narrow", !layout.wide)
    picture.classList.toggle("thin", (layout.wide ? layout.row : layout.strip) < 17)
  }

  /** Draw what depends on the symbol that is followed: the arcs, the bars, the sentence. */
  const attend = (/** @type {DrawnPicture} */ now) => {
    const { model, sample, seen, layout } = now
    const wanted = view.pointed ?? view.chosen
    const chosen = chosenIn(sample, wanted, now.snapshot?.paths)
    const path = seen.path(chosen)
    const flow = { ...leadingTo(model, seen, chosen), hops: hopsOf(model.layers, path, seen.firsts) }
    Object.assign(now, flow)
    const gone = (/** @type {number} */ layer) => seen.cut("layer", layer)
    const stacks = model.stacks.map(({ kind }) => ({
      kind: /** @type {At["kind"]} */ (kind === "encoder" ? "source" : "reads"),
      count: shownOf(sample)[kind === "encoder" ? "source" : "tokens"].length,
      norms: seen.norms(kind),
      cut: (/** @type {number} */ layer) => !seen.skips(kind, layer),
    }))
    const recurrent = ["gru", "lstm"].includes(model.family)
    paths.draw(layout, { ...flow, stacks, chosen, recurrent, gone, positions: sample?.tokens.length ?? 0 })
    const right = rightAfter(seen, sample, path ? chosen : wanted)
    parts.draw(layout, model, { ...seen, right, arrives: path?.arrives ? path.layer : null }, board)
    if (!sample || !chosen) return sentence.say("", { words: [], issue: null })
    const { sentence: reads, read } = readingIn({ model, seen, sample }, chosen)
    const named = path?.readings.filter((one) => path.words.some(({ part }) => part === headName(one))) ?? []
    if (named.length && !view.pointed) board.suggest?.(named[named.length - 1])
    symbols.mark(chosen, path ? flow.hops.map(readBy) : read ? [read] : [])
    const said = toldOf(model, now.look, sample, path?.words ?? [plain(reads)])
    sentence.say(resultOf(now.snapshot, now.look, sample), { ...said, act: actOf(now.look, path) })
  }
  /** What takes the heads away that bring the answer, where nothing is away yet. */
  const actOf = (/** @type {Answered | null} */ look, /** @type {Path | null} */ path) => {
    const names = path?.readings.filter(({ layer }) => layer === path.readings[0].layer).map(headName) ?? []
    if (!names.length || look?.wish.without.length || names.some(looks.away) || looks.whyNot()) return null
    const label = names.length > 1 ? "Take these heads away" : "Take this head away"
    return { label, does: () => looks.turn(names) }
  }

  /** @type {string[]} */
  let byKey = [] // the parts that a presenter's key takes away
  /** Take the next part away, alone; after the last one all are back. */
  const takeNext = () => {
    if (!panel.root.isConnected) return document.removeEventListener("lesson-part", takeNext)
    const { room, model } = board.data
    if (!room || !model || !drawn || looks.whyNot()) return
    const [which, layer] = [model.kinds[model.kinds.length - 1] ?? "self", model.layers - 1]
    const [first] = drawn.seen.path(chosenIn(drawn.sample, view.chosen, drawn.snapshot?.paths))?.readings ?? []
    if (!looks.any()) byKey = partsByKey(model, first ?? { which, layer, head: 0 })
    const next = byKey[byKey.findIndex(looks.away) + 1]
    looks.reset(next ? [next] : [])
  }
  document.addEventListener("lesson-part", takeNext)

  /** @type {PointerEvent | null} */
  let pointer = null // where it is over the picture
  /** Say the numbers under the pointer; they change while it rests. */
  const say = () => {
    if (!pointer || !drawn) return tip("")
    const { left, top } = picture.getBoundingClientRect()
    tip(numbersAt(drawn, drawn.layout, pointer.clientX - left, pointer.clientY - top), pointer)
  }
  picture.onpointermove = (event) => {
    pointer = /** @type {Element} */ (event.target).closest(".line") ? null : event
    say()
  }
  picture.onpointerleave = () => {
    pointer = null
    say()
  }

  let seenWidth = 0
  new ResizeObserver(([entry]) => {
    if (entry.contentRect.width !== seenWidth) touch()
    seenWidth = entry.contentRect.width
  }).observe(panel.body)
  return panel
}

const pageLetter = () => parseFloat(getComputedStyle(document.documentElement).fontSize)
/** The symbol that a hop reads. */
const readBy = (/** @type {Hop} */ { kind, key }) => ({
  kind: /** @type {At["kind"]} */ (kind === "self" ? "reads" : "source"),
  place: key,
})
/** The symbols of a sample that are drawn. */
function shownOf(/** @type {Sample | undefined} */ sample) {
  const { reads, source } = firstsOf(sample)
  return { tokens: sample?.tokens.slice(reads) ?? [], source: sample?.source.slice(source) ?? [] }
}

/**
 * The layout of a model and a sample in so many pixels.
 *
 * @param {Model} model
 * @param {Sample | undefined} sample
 * @param {number} width
 * @param {number} tall
 */
function layoutFor(model, sample, width, tall) {
  const { tokens, source } = shownOf(sample)
  return layoutOf({
    width,
    tall,
    letter: pageLetter(),
    times: model.controls && width >= SLIM ? Math.min(1.5, Math.max(1, innerHeight / 720)) : 1, // in a higher window
    layers: model.layers,
    heads: model.heads,
    kinds: model.kinds.length,
    controls: model.controls,
    positions: tokens.length,
    sources: source.length,
    longest: Math.max(1, ...[...tokens, ...source].map((token) => token.length)),
    firsts: firstsOf(sample),
  })
}
