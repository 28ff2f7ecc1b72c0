// The types that the scripts of the live board share.

import type { Board, Data, Figure, Foreign, Panel } from "../../base/script/types.d.ts"

/** The kind of an attention: of the answering stack, of an encoder, or of the one to the other. */
export type Which = "self" | "encoder" | "cross"

/** A matrix of bytes for each index along the leading axes, as pages/parts/charts/heat.py makes it. */
export interface Grid {
  shape: number[]
  whole: number[]
  block: number[]
  low: number
  high: number
  zero: number
  step: number
  values: string
  decoded?: Float32Array
}

/** The numbers of an array, row by row, last axis fastest. */
export interface Exact {
  shape: number[]
  decoded: Float32Array
}

/** An array that is asked for: `there` once it is loaded; null where the run no longer keeps it. */
export interface Numbers {
  there: Exact | null
  comes: Promise<Exact | null>
}

/** The steps of a line and its values. */
export type Column = [number[], number[]]

/** One sequence: the symbols that are read and written, and whether each answer is right; null where none is asked. */
export interface Sample {
  source: string[]
  tokens: string[]
  targets: string[]
  predictions: string[]
  marks: (boolean | null)[]
}

/** Words of a sentence, and the name of the part of the model that they name; empty where they name none. */
export interface Words {
  text: string
  part: string
}

/** The path of the answer at a position, as engine/analysis/attention/path.py says what each field is. */
export interface Path {
  arrives: boolean
  layer: number
  contributor: string // head, mlp or several; empty where nothing arrives
  readings: (Head & { position: number; read: number; weight: number })[]
  words: Words[]
}

/** The model at one step, as pages/parts/boards/live/board_updates.py makes it. */
export interface Snapshot {
  step: number
  samples: Sample[]
  prompt?: string
  written?: string
  residual?: Record<string, (number | null)[][]>
  /** How the answer at each position arises; null where it is not known. */
  paths?: (Path | null)[]
  /** What to call it where most answers arise; null as long as at most half of them arrive. */
  answer_layer?: string | null
  /** Whether the paths have the links that the answers need; null where nobody has asked yet. */
  linked?: boolean
  /** What becomes of the answers without the one head that is taken away, and the numbers behind it. */
  ablation?: { words: Words[]; details: string }
  patterns: Partial<Record<Which, Grid>>
  means?: Partial<Record<Which, Grid>>
  encoding: Record<string, Grid>
  /** Whether a head is sharp, once it is known. */
  sharp?: boolean
  /** The weights that were computed for the picture of the model, by what they are of. */
  flowing?: Map<string, import("./stack/weights.js").Weights>
}

/** The state of a run. */
export interface Status {
  state: string
  step: number
  steps: number
  problem: string
  tokens_per_second?: number | null
  queue_position?: number | null
  queue_seconds?: number | null
  machine?: string
}

/** A message of a run. */
export interface Update {
  server?: string
  last: number
  end?: boolean
  status: Status
  columns?: Record<string, Column>
  figures?: Record<string, Figure>
  milestones?: Milestones
  snapshots?: Snapshot[]
  /** Why there is no untrained model. */
  problem?: string
}

export interface Milestones {
  column?: string
  levels: Record<string, number>
}

/** One head of the model. */
export interface Head {
  which: Which
  layer: number
  head: number
}

/** A part of the picture of the model. */
export interface PartAt {
  kind: string
  layer: number | null
  head: Head | null
}

/** A symbol of the sequence. */
export interface At {
  kind: "source" | "reads"
  position: number
}

/** A kind of part of the model: pages/parts/boards/live/stack.toml says what each is. */
export interface Part {
  slot: "row" | "layer" | "head" | "output" | "heads" | "input"
  title: string
  label: string
  noun: string
  says: string
  expects: string
  spare: string
  issue: { slug: string; title: string } | null
  takes: string
  off: boolean
  fault: boolean
  trains: { label: string; set: Foreign } | null
  opens: string
}

/** The model as its picture draws it, as pages/parts/boards/live/stack.py makes it. */
export interface Model {
  family: string
  layers: number
  heads: number
  kinds: Which[]
  stacks: { kind: "self" | "encoder"; prefix: "" | "e" }[]
  gradients: number[]
  kernel: number
  skips: boolean
  question: "" | "source" | "half" | "all"
  lead: number
  shortest: number
  lengths: string
  parts: Record<string, Part>
  controls: boolean
  changed?: boolean
  /** The number of the last act that the page has received. */
  received?: number
}

/**
 * A head, the position that reads, and the reader's own sequence, which is empty for the run's. They count from 1; null
 * for what the picture shows by itself.
 */
export interface Choice {
  which: Which
  layer: number | null
  head: number | null
  position: number | null
  text: string
}

/** What is asked of the page by a part of the model. */
export interface Act {
  set?: Foreign
  open?: string
  /** Take this apart; `open` asks for it where it is closed. */
  apart?: Choice & { open?: boolean }
}

/** A sentence and the issue that it links. */
export interface Sentence {
  sentence: string
  issue: { href: string; title: string } | null
}

/** The head, the panel and the gradients that a page wants to be looked at; what it takes away, swaps and marks. */
export interface View extends Partial<Head> {
  panel?: string
  by?: string
  ablated?: string[]
  swaps?: [number, number][]
  marks?: string
}

/** What the page sends to the board, as pages/parts/boards/live/board.py makes it. */
export interface LiveData extends Data {
  /** Whether the run came with this version. */
  shipped?: boolean
  /** The phase of a lesson that is shown to a room; empty elsewhere. */
  room?: "" | "question" | "picture" | "run" | "sentence"
  run: string
  state: string
  panels: string[]
  /** The title of each panel, and its term. */
  titled: Record<string, [string, string]>
  /** What panels of lines offer, as board.py says. */
  lines: Record<string, { scales?: string; views?: [string, Record<string, string>]; plain?: boolean }>
  /** What the picture of the model shows, a sentence for each thing. */
  help?: string
  overlays: Record<string, Foreign[]>
  levels?: Record<string, Foreign[]>
  untrained?: string
  view?: View
  /** Whether the page takes the model apart now, and what it takes; null where it cannot. */
  apart?: Choice & { open: boolean } | null
  top_panels?: string
  /** The ids of the panels behind the fold. */
  folded?: string[]
  model?: Model | null
  polled?: Update & { request: string }
  recording?: Update | null
  /** How long a recording plays. */
  seconds: number
}

export interface LivePanel extends Panel {
  waiting: string
  /** Whether a message of the run changes what it shows. */
  concerns(update: Update): boolean
  /** Says whose the figure is, where the picture of the model shows something else; empty where it does not. */
  sayWhose(words: string): void
  /** Gives it the title of that name. */
  call(shown: string): void
  showView?(view: View): void
  chooseHead?(head: Head): void
  /** Whether it has anything to show of a model; else it is not there. */
  saysOf?(snapshot: Snapshot): boolean
  /** Shows what the page takes apart. */
  takeChoice?(choice: Choice): void
  /** When it was last described in words. */
  described?: number
  /** The timer until it is drawn and described again: words change once a second at most. */
  describing?: ReturnType<typeof setTimeout>
  /** The array behind the plot. */
  numbers?(): Numbers
  /** The words at a cell of the plot, and what a click on it does. */
  describeCell?(row: number, column: number, array: Exact | null): string
  click?(row: number, column: number): void
}

/** The board of a run: board.js says what each is. */
export interface LiveBoard extends Board {
  data: LiveData
  panels: LivePanel[]
  columns: Record<string, Column>
  figures: Record<string, Figure>
  snapshots: Snapshot[]
  status: Status
  milestones?: Milestones
  /** The number of the next event. */
  have: number
  /** The index of the snapshot that is looked at; null for the latest. */
  looking: number | null
  /** The step up to which lines are drawn. */
  untilStep: number
  reported: string | null
  server?: string
  exact(group: "patterns" | "encoding", name: string): Numbers
  column(name: string): Column
  snapshot(): Snapshot | undefined
  recorded(): boolean
  ended(): boolean
  shownStep(): number
  replayedStep(): number | null | undefined
  describe(panel: LivePanel, say: () => string): void
  tip(text: string, event?: MouseEvent): void
  /** Shows a head large; returns where. */
  enlarge?: ((head: Head) => HTMLElement) | null
  /** The head that is shown large. */
  largeHead?: (() => Head) | null
  /** Shows a head large until the reader chooses one. */
  suggest?: ((head: Head) => void) | null
}

declare global {
  /** The places above the columns of the document. */
  var attentionLabTopPanels: { topPanels: Map<string, HTMLElement>; topPanelsChanged: Set<() => void> }
}
