// The types that the scripts of a board of figures share.

import type { Board, Data, Figure, Panel, Slide, StatusText } from "../../base/script/types.d.ts"

/** A point in a figure: its values on the axes, and the value and the text of its cell. */
export interface FigurePoint {
  x?: number | string
  y?: number | string
  z?: number
  text?: string
}

/** What the page says of a panel. */
export interface PanelData {
  id: string
  title: string
  figure: Figure
  alt: string
  height: number
  tall?: number
  /** The roles of the rows, each with its colour. */
  legend?: [string, Record<"light" | "dark", string>][]
  kind?: string
  chip?: string
  chip_tone?: string
  words?: string
  facts?: string[]
  lines?: string[]
  tone?: Record<"light" | "dark", string>
  term?: string
  wide?: boolean
  link?: [string, string]
  picks?: boolean
  drags?: boolean
  /** Whether nothing is drawn yet that could be pointed at or saved. */
  empty?: boolean
  result?: string
  slide?: Slide
  /** Two views, of which a reader sees one: each with what differs in it. */
  views?: (Partial<PanelData> & { label: string })[]
  /** What the views are about; of another subject the first one is shown. */
  views_of?: string
}

/** What the page says of a section. */
export interface SectionData {
  id: string
  title: string
  note: string
  width: number
  panels: PanelData[]
}

/** What the page sends to the board. */
export interface FiguresData extends Data {
  subject: string
  version: string
  sections: SectionData[]
  status: Omit<StatusText, "reason"> & { problem: string }
}

/** A panel of a figure that the page hands over. */
export interface Card extends Panel {
  /** The highlighted row and column. */
  highlights: [HTMLElement, HTMLElement]
  /** The names of what its columns and rows are, which other panels may share. */
  link: [string, string]
  /** Whether the page is told what was picked. */
  picks: boolean
  /** The index of the view that is shown. */
  view: number
  figure: Figure
  /** The point that was reached by keys, and its row and column. */
  at?: FigurePoint
  index?: [number, number]
  hear(given: PanelData): void
}

export interface FiguresBoard extends Board {
  data: FiguresData
  panels: Map<string, Card>
  /** What a screen reader hears. */
  spoken: HTMLElement
  /** The result that it heard last. */
  result?: string
}
