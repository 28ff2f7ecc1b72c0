// The types that the scripts of all boards share.

/** Of Plotly or Streamlit, which come without types: a trace, a layout, an event, a module. */
// deno-lint-ignore no-explicit-any
export type Foreign = any

export interface Theme {
  name: "light" | "dark"
  ink: string
  surface: string
  border: string
  /** Of attention in the small tiles of heads. */
  heads: string
  font: string
  /** Whether the page is shown to a room full of people. */
  room: boolean
  /** How many pixels larger letters are than usual. */
  larger: number
}

export interface Figure {
  data: Foreign[]
  layout: Foreign
}

/** The node of a plot, with what Plotly adds to it. */
export interface Plot extends HTMLElement {
  data?: Foreign[]
  layout?: Foreign
  _fullData?: Foreign[]
  _fullLayout?: Foreign
  _dragging?: boolean
  on?(name: string, heard: (event: Foreign) => void): void
}

/** An SVG file. */
export interface Picture {
  text: string
  width: number
  height: number
}

/** The words around a figure on a slide. */
export interface Slide {
  title: string
  /** What the figure's axis shows. */
  quantity: string
  sentence: string
  /** Seeds and link. */
  foot: string
}

export interface Panel {
  id: string
  title: string
  /** What is shown, for the names of files: a step, a head. */
  detail: string
  root: HTMLElement
  heading: HTMLElement
  tools: HTMLElement
  body: HTMLElement
  plot: Plot
  /** The words in the place of a plot that is not there yet. */
  wait: HTMLElement
  /** Whether Plotly draws it. */
  plotted: boolean
  /** Whether it has changed since it was drawn. */
  dirty: boolean
  /** Whether it is near the window. */
  near: boolean
  drawnAt: number
  /** What the plot shows. */
  drawn: { traces: Foreign[]; layout: Foreign } | null
  draw(): void
  /** Whether the plot has listeners. */
  listening?: boolean
  /** Whether the plot has a mark that can be moved. */
  drags?: boolean
  figure?: Figure
  slide?: Slide
  picture?(): Picture
  /** The traces with the numbers behind the plot; null where they are no longer kept. */
  exact?(): Promise<Foreign[] | null>
}

export type Painter = ReturnType<typeof import("./base.js").newPainter>

/** What a status line shows; null as the share hides the bar. */
export interface StatusText {
  state: string
  words: string
  share?: number | null
  reason: string
  spoken?: string
}

export type StatusLine = ReturnType<typeof import("./base.js").newStatusLine>

/** What every page sends to its board. */
export interface Data {
  name: string
  /** Version, commit and date, with which names of saved files end. */
  stamp: string
  plotly: string
  level: number
}

export interface Board {
  host: Host
  canvas: HTMLElement
  data: Data
  /** What zoom and legend choices belong to. */
  subject: string
  plotly: Foreign | null
  theme: Theme
  statusLine: StatusLine
  painter: Painter
  setState: Send
  trigger: Send
}

/** The element that Streamlit gives a component, and its shadow root. */
export type Host = HTMLElement

/** A function of Streamlit that tells the page something. */
export type Send = (name: string, value: unknown) => void

/** What a board shows before a message of the page is taken. */
export interface Before {
  data: Data
  theme: Theme
}

/** What a kind of board is made of; base.js says what each is. */
export interface Source {
  names: Record<string, string>
  /** Whether the status line has a bar; by default it has. */
  progress?: boolean
  interval: number
  margin: string
  begin(): void
  ready(plotly: Foreign): void
  hear(before: Before): void
  end(): void
}

/** What Streamlit hands to a component. */
export interface Component {
  data: Foreign
  parentElement: HTMLElement & { host?: HTMLElement; newest?: Component | null }
  setStateValue: Send
  setTriggerValue: Send
}

declare global {
  /** Plotly's script, asked for once for the document. */
  var attentionLabPlotly: Promise<Foreign> | undefined
  var Plotly: Foreign
}
