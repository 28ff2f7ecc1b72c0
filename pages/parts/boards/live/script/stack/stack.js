// The picture of the whole model and one sequence: from the symbols through all layers and heads to what is written.
// It is a control: a click on a part says what it does and takes it away; symbols change places by dragging.

import { newTip, runPanel } from "../panels.js"
import { partBox, symbolRows } from "./controls.js"
import { pathsDrawing } from "./curves.js"
import { modelParts } from "./layers.js"
import { firstsOf, layoutOf } from "./layout.js"
import { newInterventions, questionOf, userSequence } from "./interventions.js"
import { pictureAsSvg } from "./save.js"
import { chosenIn, headName, hopsOf, leadingTo, readoutOf, rightAfter } from "./weights.js"
import {
  captionOf,
  changesOf,
  helpButton,
  helpWords,
  lightNames,
  numbersAt,
  partNamed,
  partsByKey,
  partWords,
  plain,
  readingIn,
  resultOf,
  sentenceLine,
  whoseFigures,
} from "./words.js"
import { el } from "../../../base/script/dom.js"
import { downloads } from "../../../base/script/downloads.js"
import { newPresses } from "../../../base/script/presses.js"

/** @import { Layout } from "./layout.js" */
/** @import { Answered } from "./interventions.js" */
/** @import { Arc, Hop, Readout, Stream } from "./weights.js" */
/** @import { Act, At, Choice, Head, LiveBoard, LivePanel, View, Model, PartAt, Path, Sample, Snapshot, Which } from "../types.d.ts" */

/**
 * What is drawn: of which model, snapshot and sample; what was looked at; what leads to the symbol that is followed, and
 * the hops of its answer.
 *
 * @typedef {{model: Model, snapshot?: Snapshot, sample?: Sample, readout: Readout, answered: Answered | null, layout: Layout,
 *   arcs: Arc[], streams: Stream[], hops: Hop[]}} DrawnPicture
 */

const SLIM = 760 // below this width the sentence takes a line of its own
/**
 * The height below the drawing on a presented lab, in units of the page's letters, by phase of the step: the drawing keeps
 * its height from the run to the sentence, in whose phase the line of status above it has gone.
 */
const BELOW = { question: 6.4, guess: 10.6, run: 9.6, picture: 9.6, sentence: 11.6 }

/**
 * The panel of the picture. The page describes the model as `board.data.model`, as pages/parts/boards/live/stack.py
 * makes it.
 */
export const stackPanel = (/** @type {LiveBoard} */ board) => new ModelPicture(board).panel

class ModelPicture {
  /** @type {DrawnPicture | null} */
  drawn = null // what was drawn last
  /** @type {{chosen: At | null, pointed: At | null}} */
  followed = { chosen: null, pointed: null } // the symbol that was chosen, and that under the pointer
  /** @type {Head | null} */
  only = null // the one head whose arcs are drawn
  /** @type {Head | null} */
  first = null // the one to begin with where no path of an answer is known
  /** @type {PointerEvent | null} */
  pointer = null // where it is over the picture
  /** @type {string[]} */
  byKey = [] // the parts that a presenter's key takes away
  sent = "" // the choice that the page was told last
  heard = "" // that of the page's last message
  built = "" // the structure of the model whose parts stand there
  subject = "" // the run and that structure
  /** @type {ReturnType<typeof newPresses<Act>>} */
  presses = newPresses()
  paths = pathsDrawing()

  constructor(/** @type {LiveBoard} */ board) {
    this.board = board
    /** @type {LivePanel} */
    const panel = this.panel = runPanel(board, "stack", { plotted: false })
    const { title } = panel
    this.interventions = newInterventions(board, () => this.touch())
    this.userSequence = userSequence(this.interventions)
    this.sentence = sentenceLine(
      (name) => /** @type {HTMLElement | null} */ (this.parts.root.querySelector(`[data-name="${name}"]`))?.click(),
      (name) => this.drawn ? partNamed(name, this.drawn.model).words : "",
    )
    this.parts = modelParts((at, node) => this.open(at, node), (head) => this.enlarge(head))
    this.symbols = symbolRows({
      onPoint: (at) => this.follow("pointed", at),
      onChoose: (at) => this.follow("chosen", at),
      onSwap: this.interventions.swap,
    })
    const clear = () => {
      this.userSequence.fill("")
      this.interventions.reset()
    }
    this.reset = el("button", { type: "button", class: "reset", hidden: true, onclick: clear }, "Put all back")
    this.picture = el("div", { class: "picture" }, this.paths.root, this.parts.root)
    const [picture, symbols] = [this.picture, this.symbols.root]
    panel.tools.append(this.reset, this.userSequence.form, downloads(board, panel))
    panel.tools.before(this.sentence.root, this.userSequence.line)
    panel.body.prepend(picture, symbols)
    this.tip = newTip(panel.body)
    this.box = partBox(panel.body)
    lightNames(panel.root)
    const help = () => helpWords("How to read the picture", board.data.help ?? "")
    const button = helpButton(`What this means: ${title}`, (node) => this.box.show(node, help))
    panel.heading.replaceChildren(`${title} `, button)

    panel.picture = () => pictureAsSvg(panel.body, [picture, symbols], board.theme, `${title}: ${this.sentence.text()}`)
    panel.concerns = (update) => Boolean(update.snapshots?.length || Object.keys(update.columns ?? {}).length)
    panel.chooseHead = (head) => this.alone(head)
    panel.showView = (view) => this.begin(view)
    panel.takeChoice = (choice) => this.takeChoice(choice)
    panel.draw = () => this.draw()
    picture.onpointermove = (event) => this.point(/** @type {Element} */ (event.target).closest(".line") ? null : event)
    picture.onpointerleave = () => this.point(null)
    const takeNext = () =>
      panel.root.isConnected ? this.takeNext() : document.removeEventListener("lesson-part", takeNext)
    document.addEventListener("lesson-part", takeNext)
    let lastSize = ""
    new ResizeObserver(([entry]) => {
      const size = `${entry.contentRect.width} ${board.data.room ? "" : this.tallNow()}`
      if (size !== lastSize) this.touch()
      lastSize = size
    }).observe(panel.body)
  }

  touch() {
    this.board.painter.touch(this.panel)
  }

  /** Tell the page what is asked of it. */
  act(/** @type {Act} */ request) {
    this.presses.confirm(this.board.data.model?.received ?? 0)
    this.board.trigger("act", this.presses.add(request))
  }

  /** Draw the arcs of one head alone, or of all. */
  alone(/** @type {Head | null} */ head) {
    this.only = head
    this.touch()
    this.tellChoice()
  }

  /** Show a head large in the panels of attention, where the board has them; here its arcs alone are drawn. */
  enlarge(/** @type {Head} */ head) {
    this.board.enlarge?.(head).scrollIntoView({ block: "nearest" })
    this.alone(head)
  }

  /** The head that is chosen, else that of the sentence, else the first. */
  head() {
    return this.only ?? this.board.largeHead?.() ?? { which: /** @type {Which} */ ("self"), layer: 0, head: 0 }
  }

  /** What is chosen here to be taken apart; null where nothing can be. */
  choice() {
    const { board, drawn, interventions } = this
    const text = interventions.text()
    if (!board.data.apart || !board.data.run || interventions.whyNot() || !drawn?.sample || text == null) return null
    const { which, layer, head } = this.head()
    const at = chosenIn(drawn.sample, this.followed.chosen, drawn.snapshot?.paths)
    const position = at?.kind === rowOf(which) ? at.position + 1 : null
    return { which, layer: layer + 1, head: head + 1, position, text }
  }

  /** Tell the page what is chosen here, where it takes the model apart. */
  tellChoice() {
    const { apart } = this.board.data
    const now = apart?.open ? this.choice() : null
    if (!apart || !now || [inShort(apart), this.sent].includes(inShort(now))) return
    this.sent = inShort(now)
    this.act({ apart: now })
  }

  /** Show what the page takes apart, where a link or a figure below has chosen it. */
  takeChoice(/** @type {Choice} */ choice) {
    const { which, layer, head, position, text } = choice
    const now = inShort(choice)
    if (now !== this.heard && now !== this.sent) {
      this.sent = ""
      if (layer != null && head != null) {
        const [wanted, before] = [{ which, layer: layer - 1, head: head - 1 }, this.head()]
        this.board.enlarge?.(wanted) // from now on no sentence chooses another one
        if (headName(wanted) !== headName(before)) this.only = wanted
      }
      if (position != null) this.followed.chosen = { kind: rowOf(which), position: position - 1 }
      if (text && text !== this.interventions.text()) {
        this.userSequence.fill(text)
        this.interventions.type(text)
      }
      this.touch()
    }
    this.heard = now
    this.tellChoice() // the picture may be out of sight, and so not drawn
  }

  /** Take a head apart, beneath the picture. */
  takeApart(/** @type {Head} */ head) {
    this.board.enlarge?.(head)
    this.alone(head)
    const now = this.choice()
    if (!now) return
    this.sent = inShort(now)
    this.act({ apart: { ...now, open: true } })
    document.querySelector(".st-key-lab-apart")?.scrollIntoView({ block: "nearest" })
  }

  /** Open the box at a part. */
  open(/** @type {PartAt} */ at, /** @type {HTMLElement} */ node) {
    const { board, interventions } = this
    const { head } = at
    const words = () => {
      const { readout, model } = /** @type {DrawnPicture} */ (this.drawn)
      return partWords(at, {
        model,
        interventions,
        grid: head && readout.grid(head.which),
        index: head && readout.indices(head.which)[head.layer],
        large: head && board.enlarge ? () => this.enlarge(head) : undefined,
        only: readout.only,
        alone: (one) => this.alone(one),
        act: (request) => this.act(request),
        apart: head && this.choice() ? () => this.takeApart(head) : undefined,
      })
    }
    if (this.drawn) this.box.show(node, words)
  }

  follow(/** @type {"chosen" | "pointed"} */ how, /** @type {At | null} */ at) {
    const before = this.followed[how]
    if (at?.kind === before?.kind && at?.position === before?.position) return
    this.followed[how] = at
    if (this.drawn) this.attend(this.drawn)
  }

  /** Begin with what the page wants to be looked at. */
  begin(/** @type {View} */ { panel = "attention", which = "self", layer, head = 0, ablated, swaps, marks = "" }) {
    this.interventions.reset(ablated, swaps)
    this.panel.root.dataset.marks = marks
    this.only = null
    this.first = layer != null && panel === "attention" ? { which, layer, head } : null
  }

  draw() {
    const { board, panel, interventions, symbols } = this
    const { model } = board.data
    const width = panel.body.clientWidth
    if (!model || !width) return
    this.beginAnew(model)
    const answered = interventions.current()
    interventions.followLinks()
    const snapshot = answered?.snapshot ?? board.snapshot()
    const sample = snapshot?.samples[0]
    const only = this.only ?? (snapshot?.paths?.some(Boolean) ? null : this.first)
    const readout = readoutOf(model, snapshot, { ablated: answered?.wish.ablated ?? [], only })
    const tall = this.tallNow()
    const layout = layoutFor(model, sample, { width, tall, room: Boolean(board.data.room) })
    this.drawn = { model, snapshot, sample, readout, answered, layout, arcs: [], streams: [], hops: [] }
    panel.root.classList.toggle("slim", width < SLIM)
    board.canvas.classList.toggle("deep", model.layers > 2) // the figures below leave it room
    panel.root.style.setProperty("--lines", `${Math.min(3, model.layers)}`) // of the sentence, which tells a hop for each layer
    panel.wait.hidden = Boolean(sample)
    symbols.root.hidden = !sample
    if (sample) {
      const { positions } = (answered && changesOf(model, answered, sample)) ?? { positions: [] }
      symbols.draw(sample, layout, questionOf(model, sample), !interventions.whyNot(), {
        before: answered?.before?.samples[0],
        positions,
      })
    }
    for (const other of board.panels) other.sayWhose(whoseFigures(answered?.wish))
    this.box.refresh()
    const { ablated = [], swaps = [] } = board.data.view ?? {}
    this.reset.hidden = !interventions.any() || ablated.length + swaps.length > 0 // the page puts back what it took away itself
    this.userSequence.say(interventions.problem(), interventions.waits())
    this.sentence.root.hidden = Boolean(interventions.problem())
    this.setLayout(layout)
    this.attend(this.drawn)
    if (this.pointer) this.say()
    if (tall) setTimeout(() => Math.abs(this.tallNow() - tall) > 2 && this.touch(), 300) // what stands above has moved it
  }

  /** The height that the drawing fills in a room, or where the page's style says so; else 0. */
  tallNow() {
    const { room } = this.board.data
    if (!room) return parseFloat(getComputedStyle(this.picture).minHeight) || 0
    if (innerWidth < SLIM) return 0
    const left = innerHeight - this.panel.body.getBoundingClientRect().top - BELOW[room] * pageLetter()
    return Math.max(120, Math.floor(left))
  }

  /** Build the parts where the model is another one; what was taken away was a part of the model before. */
  beginAnew(/** @type {Model} */ model) {
    const labels = Object.values(model.parts).map(({ label }) => label)
    const structure = JSON.stringify([model.family, model.layers, model.heads, model.controls, labels])
    const subject = `${this.board.data.run}/${structure}`
    if (this.subject !== subject) {
      if (this.subject) {
        this.interventions.forget()
        this.followed = { chosen: null, pointed: null }
      }
      this.subject = subject
    }
    if (this.built === structure) return
    this.box.hide()
    this.parts.build(model)
    this.built = structure
  }

  setLayout(/** @type {Layout} */ layout) {
    const { style, classList } = this.picture
    const { left, middle, tiles, tile, gap, row } = layout
    for (const [name, value] of Object.entries({ left, middle, tiles, tile, gap, row })) {
      style.setProperty(`--${name}`, `${value}px`)
    }
    style.height = `${layout.height}px`
    classList.toggle("narrow", !layout.wide)
    classList.toggle("thin", (layout.wide ? layout.row : layout.strip) < 17)
  }

  /** Draw what depends on the symbol that is followed: the arcs, the bars, the sentence. */
  attend(/** @type {DrawnPicture} */ now) {
    const { board, sentence } = this
    const { model, sample, readout, layout } = now
    const { pointed } = this.followed
    const wanted = pointed ?? this.followed.chosen
    const chosen = chosenIn(sample, wanted, now.snapshot?.paths)
    const path = readout.path(chosen)
    const flow = { ...leadingTo(model, readout, chosen), hops: hopsOf(model.layers, path, readout.firsts) }
    Object.assign(now, flow)
    const isLayerAblated = (/** @type {number} */ layer) => readout.isAblated("layer", layer)
    const stacks = model.stacks.map(({ kind }) => ({
      kind: /** @type {At["kind"]} */ (kind === "encoder" ? "source" : "reads"),
      count: shownOf(sample)[kind === "encoder" ? "source" : "tokens"].length,
      norms: readout.norms(kind),
      isSkipAblated: (/** @type {number} */ layer) => !readout.skips(kind, layer),
    }))
    const recurrent = ["gru", "lstm"].includes(model.family)
    this.paths.draw(layout, {
      ...flow,
      stacks,
      chosen,
      recurrent,
      isLayerAblated,
      positions: sample?.tokens.length ?? 0,
    })
    const right = rightAfter(readout, sample, path ? chosen : wanted)
    this.parts.draw(layout, model, { ...readout, right, arrives: path?.arrives ? path.layer : null }, board)
    if (!sample || !chosen) return sentence.say("", { words: [], issue: null })
    const { sentence: reads, read } = readingIn({ model, readout, sample }, chosen)
    const named = path?.readings.filter((one) => path.words.some(({ part }) => part === headName(one))) ?? []
    const [which] = model.kinds.slice(-1)
    const brings = named[named.length - 1] ?? (path?.arrives && which && { which, layer: path.layer, head: 0 })
    if (brings && !pointed) board.suggest?.(brings)
    this.tellChoice()
    this.symbols.mark(chosen, path ? flow.hops.map(readBy) : read ? [read] : [])
    const caption = captionOf(model, now.answered, sample, path?.words ?? [plain(reads)])
    sentence.say(resultOf(now.snapshot, now.answered, sample), { ...caption, act: this.actOf(now.answered, path) })
  }

  /** What takes the heads away that bring the answer, where nothing is away yet. */
  actOf(/** @type {Answered | null} */ answered, /** @type {Path | null} */ path) {
    const { interventions } = this
    const names = path?.readings.filter(({ layer }) => layer === path.readings[0].layer).map(headName) ?? []
    if (
      !names.length || answered?.wish.ablated.length || names.some(interventions.isAblated) || interventions.whyNot()
    ) return null
    const label = names.length > 1 ? "Remove these heads" : "Remove this head"
    return { label, does: () => interventions.toggle(names) }
  }

  /** Take the next part away, alone, as a presenter's key asks; after the last one all are back. */
  takeNext() {
    const { drawn, interventions } = this
    const { room, model } = this.board.data
    if (!room || !model || !drawn || interventions.whyNot()) return
    const [which, layer] = [model.kinds[model.kinds.length - 1] ?? "self", model.layers - 1]
    const chosen = chosenIn(drawn.sample, this.followed.chosen, drawn.snapshot?.paths)
    const [first] = drawn.readout.path(chosen)?.readings ?? []
    if (!interventions.any()) this.byKey = partsByKey(model, first ?? { which, layer, head: 0 })
    const next = this.byKey[this.byKey.findIndex(interventions.isAblated) + 1]
    interventions.reset(next ? [next] : [])
  }

  point(/** @type {PointerEvent | null} */ event) {
    this.pointer = event
    this.say()
  }

  /** Say the numbers under the pointer; they change while it rests. */
  say() {
    const { pointer, drawn, tip } = this
    if (!pointer || !drawn) return tip("")
    const { left, top } = this.picture.getBoundingClientRect()
    tip(numbersAt(drawn, drawn.layout, pointer.clientX - left, pointer.clientY - top), pointer)
  }
}

const pageLetter = () => parseFloat(getComputedStyle(document.documentElement).fontSize)
/** The row of symbols that the queries of an attention stand in. */
const rowOf = (/** @type {Which} */ which) => /** @type {At["kind"]} */ (which === "encoder" ? "source" : "reads")
/** A choice as text, to compare. */
const inShort = (/** @type {Choice} */ { which, layer, head, position, text }) =>
  JSON.stringify([which, layer, head, position, text])
/** The symbol that a hop reads. */
const readBy = (/** @type {Hop} */ { kind, key }) => ({
  kind: /** @type {At["kind"]} */ (kind === "self" ? "reads" : "source"),
  position: key,
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
 * @param {{width: number, tall: number, room: boolean}} space
 */
function layoutFor(model, sample, { width, tall, room }) {
  const { tokens, source } = shownOf(sample)
  return layoutOf({
    width,
    tall,
    room: room && tall > 0,
    letter: pageLetter(),
    times: model.controls && width >= SLIM ? Math.min(2, Math.max(1, innerHeight / 480 - 0.5)) : 1, // in a higher window
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
