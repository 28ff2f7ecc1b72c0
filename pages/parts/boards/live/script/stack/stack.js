// The picture of the whole model and one sequence: from the symbols through all layers and heads to what is written.
// It is a control: a click on a part says what it does and takes it away; symbols change places by dragging.

import { newTip, runPanel } from "../panels.js"
import { partBox, symbolRows } from "./controls.js"
import { pathsDrawing } from "./curves.js"
import { modelParts } from "./layers.js"
import { firstsOf, layoutOf } from "./layout.js"
import { newLooks, ownSequence, questionOf } from "./looks.js"
import { pictureAsSvg } from "./save.js"
import { chosenIn, headName, hopsOf, leadingTo, rightAfter, seenIn } from "./weights.js"
import {
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
  toldOf,
  whoseFigures,
} from "./words.js"
import { el } from "../../../base/script/dom.js"
import { downloads } from "../../../base/script/downloads.js"
import { newPresses } from "../../../base/script/presses.js"

/** @import { Layout } from "./layout.js" */
/** @import { Answered } from "./looks.js" */
/** @import { Arc, Hop, Seen, Stream } from "./weights.js" */
/** @import { Act, At, Choice, Head, LiveBoard, LivePanel, Look, Model, PartAt, Path, Sample, Snapshot, Which } from "../types.d.ts" */

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
  told = "" // the choice that the page was told last
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
    this.looks = newLooks(board, () => this.touch())
    this.own = ownSequence(this.looks)
    this.sentence = sentenceLine(
      (name) => /** @type {HTMLElement | null} */ (this.parts.root.querySelector(`[data-name="${name}"]`))?.click(),
      (name) => this.drawn ? partNamed(name, this.drawn.model).words : "",
    )
    this.parts = modelParts((at, node) => this.open(at, node), (head) => this.enlarge(head))
    this.symbols = symbolRows({
      onPoint: (at) => this.follow("pointed", at),
      onChoose: (at) => this.follow("chosen", at),
      onSwap: this.looks.swap,
    })
    const clear = () => {
      this.own.fill("")
      this.looks.reset()
    }
    this.reset = el("button", { type: "button", class: "reset", hidden: true, onclick: clear }, "Put all back")
    this.picture = el("div", { class: "picture" }, this.paths.root, this.parts.root)
    const [picture, symbols] = [this.picture, this.symbols.root]
    panel.tools.append(this.reset, this.own.form, downloads(board, panel))
    panel.tools.before(this.sentence.root, this.own.told)
    panel.body.prepend(picture, symbols)
    this.tip = newTip(panel.body)
    this.box = partBox(panel.body)
    lightNames(panel.root)
    const help = () => helpWords("How to read the picture", board.data.help ?? "")
    const button = helpButton(`What this means: ${title}`, (node) => this.box.show(node, help))
    panel.heading.replaceChildren(`${title} `, button)

    panel.picture = () => pictureAsSvg(panel.body, [picture, symbols], board.theme, `${title}: ${this.sentence.text()}`)
    panel.concerns = (news) => Boolean(news.snapshots?.length || Object.keys(news.columns ?? {}).length)
    panel.chooseHead = (head) => this.alone(head)
    panel.look = (look) => this.begin(look)
    panel.takeChoice = (choice) => this.takeChoice(choice)
    panel.draw = () => this.draw()
    picture.onpointermove = (event) => this.point(/** @type {Element} */ (event.target).closest(".line") ? null : event)
    picture.onpointerleave = () => this.point(null)
    const takeNext = () =>
      panel.root.isConnected ? this.takeNext() : document.removeEventListener("lesson-part", takeNext)
    document.addEventListener("lesson-part", takeNext)
    let seenSize = ""
    new ResizeObserver(([entry]) => {
      const size = `${entry.contentRect.width} ${board.data.room ? "" : this.tallNow()}`
      if (size !== seenSize) this.touch()
      seenSize = size
    }).observe(panel.body)
  }

  touch() {
    this.board.painter.touch(this.panel)
  }

  /** Tell the page what is asked of it. */
  act(/** @type {Act} */ asked) {
    this.presses.confirm(this.board.data.model?.received ?? 0)
    this.board.trigger("act", this.presses.add(asked))
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
    const { board, drawn, looks } = this
    const text = looks.text()
    if (!board.data.apart || !board.data.run || looks.whyNot() || !drawn?.sample || text == null) return null
    const { which, layer, head } = this.head()
    const at = chosenIn(drawn.sample, this.followed.chosen, drawn.snapshot?.paths)
    const position = at?.kind === rowOf(which) ? at.place + 1 : null
    return { which, layer: layer + 1, head: head + 1, position, text }
  }

  /** Tell the page what is chosen here, where it takes the model apart. */
  tellChoice() {
    const { apart } = this.board.data
    const now = apart?.open ? this.choice() : null
    if (!apart || !now || [inShort(apart), this.told].includes(inShort(now))) return
    this.told = inShort(now)
    this.act({ apart: now })
  }

  /** Show what the page takes apart, where a link or a figure below has chosen it. */
  takeChoice(/** @type {Choice} */ choice) {
    const { which, layer, head, position, text } = choice
    const now = inShort(choice)
    if (now !== this.heard && now !== this.told) {
      this.told = ""
      if (layer != null && head != null) {
        const [wanted, before] = [{ which, layer: layer - 1, head: head - 1 }, this.head()]
        this.board.enlarge?.(wanted) // from now on no sentence chooses another one
        if (headName(wanted) !== headName(before)) this.only = wanted
      }
      if (position != null) this.followed.chosen = { kind: rowOf(which), place: position - 1 }
      if (text && text !== this.looks.text()) {
        this.own.fill(text)
        this.looks.type(text)
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
    this.told = inShort(now)
    this.act({ apart: { ...now, open: true } })
    document.querySelector(".st-key-lab-apart")?.scrollIntoView({ block: "nearest" })
  }

  /** Open the box at a part. */
  open(/** @type {PartAt} */ at, /** @type {HTMLElement} */ node) {
    const { board, looks } = this
    const { head } = at
    const words = () => {
      const { seen, model } = /** @type {DrawnPicture} */ (this.drawn)
      return partWords(at, {
        model,
        looks,
        grid: head && seen.grid(head.which),
        place: head && seen.places(head.which)[head.layer],
        large: head && board.enlarge ? () => this.enlarge(head) : undefined,
        only: seen.only,
        alone: (one) => this.alone(one),
        act: (asked) => this.act(asked),
        apart: head && this.choice() ? () => this.takeApart(head) : undefined,
      })
    }
    if (this.drawn) this.box.show(node, words)
  }

  follow(/** @type {"chosen" | "pointed"} */ how, /** @type {At | null} */ at) {
    const before = this.followed[how]
    if (at?.kind === before?.kind && at?.place === before?.place) return
    this.followed[how] = at
    if (this.drawn) this.attend(this.drawn)
  }

  /** Begin with what the page wants to be looked at. */
  begin(/** @type {Look} */ { panel = "attention", which = "self", layer, head = 0, without, swaps, marks = "" }) {
    this.looks.reset(without, swaps)
    this.panel.root.dataset.marks = marks
    this.only = null
    this.first = layer != null && panel === "attention" ? { which, layer, head } : null
  }

  draw() {
    const { board, panel, looks, symbols } = this
    const { model } = board.data
    const width = panel.body.clientWidth
    if (!model || !width) return
    this.beginAnew(model)
    const look = looks.seen()
    looks.followLinks()
    const snapshot = look?.snapshot ?? board.snapshot()
    const sample = snapshot?.samples[0]
    const only = this.only ?? (snapshot?.paths?.some(Boolean) ? null : this.first)
    const seen = seenIn(model, snapshot, { without: look?.wish.without ?? [], only })
    const tall = this.tallNow()
    const layout = layoutFor(model, sample, { width, tall, room: Boolean(board.data.room) })
    this.drawn = { model, snapshot, sample, seen, look, layout, arcs: [], streams: [], hops: [] }
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
    this.box.refresh()
    const { without = [], swaps = [] } = board.data.look ?? {}
    this.reset.hidden = !looks.any() || without.length + swaps.length > 0 // the page puts back what it took away itself
    this.own.say(looks.problem(), looks.waits())
    this.sentence.root.hidden = Boolean(looks.problem())
    this.place(layout)
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
        this.looks.forget()
        this.followed = { chosen: null, pointed: null }
      }
      this.subject = subject
    }
    if (this.built === structure) return
    this.box.hide()
    this.parts.build(model)
    this.built = structure
  }

  place(/** @type {Layout} */ layout) {
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
    const { model, sample, seen, layout } = now
    const { pointed } = this.followed
    const wanted = pointed ?? this.followed.chosen
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
    this.paths.draw(layout, { ...flow, stacks, chosen, recurrent, gone, positions: sample?.tokens.length ?? 0 })
    const right = rightAfter(seen, sample, path ? chosen : wanted)
    this.parts.draw(layout, model, { ...seen, right, arrives: path?.arrives ? path.layer : null }, board)
    if (!sample || !chosen) return sentence.say("", { words: [], issue: null })
    const { sentence: reads, read } = readingIn({ model, seen, sample }, chosen)
    const named = path?.readings.filter((one) => path.words.some(({ part }) => part === headName(one))) ?? []
    const [which] = model.kinds.slice(-1)
    const brings = named[named.length - 1] ?? (path?.arrives && which && { which, layer: path.layer, head: 0 })
    if (brings && !pointed) board.suggest?.(brings)
    this.tellChoice()
    this.symbols.mark(chosen, path ? flow.hops.map(readBy) : read ? [read] : [])
    const said = toldOf(model, now.look, sample, path?.words ?? [plain(reads)])
    sentence.say(resultOf(now.snapshot, now.look, sample), { ...said, act: this.actOf(now.look, path) })
  }

  /** What takes the heads away that bring the answer, where nothing is away yet. */
  actOf(/** @type {Answered | null} */ look, /** @type {Path | null} */ path) {
    const { looks } = this
    const names = path?.readings.filter(({ layer }) => layer === path.readings[0].layer).map(headName) ?? []
    if (!names.length || look?.wish.without.length || names.some(looks.away) || looks.whyNot()) return null
    const label = names.length > 1 ? "Take these heads away" : "Take this head away"
    return { label, does: () => looks.turn(names) }
  }

  /** Take the next part away, alone, as a presenter's key asks; after the last one all are back. */
  takeNext() {
    const { drawn, looks } = this
    const { room, model } = this.board.data
    if (!room || !model || !drawn || looks.whyNot()) return
    const [which, layer] = [model.kinds[model.kinds.length - 1] ?? "self", model.layers - 1]
    const chosen = chosenIn(drawn.sample, this.followed.chosen, drawn.snapshot?.paths)
    const [first] = drawn.seen.path(chosen)?.readings ?? []
    if (!looks.any()) this.byKey = partsByKey(model, first ?? { which, layer, head: 0 })
    const next = this.byKey[this.byKey.findIndex(looks.away) + 1]
    looks.reset(next ? [next] : [])
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
 * @param {{width: number, tall: number, room: boolean}} place
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
