// The board of an experiment: sections of panels by their ids. A plot is one node from its first point to its last.

const NEAR = "300px"
const STINT = 40 // milliseconds of drawing in one go

function newEvidence(host, canvas) {
  const state = { host, data: null, theme: readTheme(host), plotly: null, panels: new Map(), sections: new Map() }
  const status = evidenceStatus()
  const root = el("div", { class: "sections" })
  canvas.append(status.root, root)
  let pending = null

  const touch = () => (pending ??= requestAnimationFrame(draw))
  const draw = () => {
    pending = null
    if (!state.plotly) return
    const began = performance.now()
    for (const panel of state.panels.values()) {
      if (!panel.dirty || !panel.near || panel.plot._dragging) continue
      if (performance.now() - began > STINT) return touch()
      panel.dirty = false
      paint(state, panel)
    }
  }
  const near = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      const panel = [...state.panels.values()].find(({ plot }) => plot === target)
      if (panel) panel.near = isIntersecting
    }
    touch()
  }, { rootMargin: NEAR })
  const sized = new ResizeObserver((entries) => {
    for (const { target } of entries) if (target.data && target.offsetWidth) state.plotly.Plots.resize(target)
  })

  state.hear = (data) => {
    const theme = readTheme(host)
    const recolour = JSON.stringify(theme) !== JSON.stringify(state.theme)
    const other = state.data && state.data.experiment !== data.experiment
    state.theme = theme
    status.draw(data.status)
    if (!recolour && !other && state.data?.version === data.version) return
    state.data = data
    const wanted = new Set()
    data.sections.forEach((section) => furnish(section, wanted))
    for (const [id, panel] of state.panels) {
      if (wanted.has(id)) continue
      near.unobserve(panel.plot)
      sized.unobserve(panel.plot)
      if (panel.plot.data) state.plotly.purge(panel.plot)
      state.panels.delete(id)
    }
    for (const panel of state.panels.values()) panel.dirty ||= recolour
    root.replaceChildren(...data.sections.map(({ id }) => state.sections.get(id).root))
    touch()
  }

  const furnish = (section, wanted) => {
    if (!state.sections.has(section.id)) state.sections.set(section.id, evidenceSection(section))
    const frame = state.sections.get(section.id)
    frame.draw(section)
    const nodes = section.panels.map((told) => {
      wanted.add(told.id)
      if (!state.panels.has(told.id)) {
        const made = evidencePanel(told)
        state.panels.set(told.id, made)
        near.observe(made.plot)
        sized.observe(made.plot)
      }
      const panel = state.panels.get(told.id)
      panel.tell(told, state.theme.name)
      return panel.root
    })
    if (nodes.length !== frame.grid.children.length || nodes.some((node, at) => frame.grid.children[at] !== node)) frame.grid.replaceChildren(...nodes)
  }

  state.end = () => {
    near.disconnect()
    sized.disconnect()
    cancelAnimationFrame(pending)
    for (const { plot } of state.panels.values()) if (plot.data) state.plotly.purge(plot)
  }
  loadPlotly(canvas.dataset.plotly).then(
    (plotly) => ((state.plotly = plotly), touch()),
    () => status.say("The chart library could not be loaded. Reload the page."),
  )
  return state
}

function evidenceStatus() {
  const badge = el("span", { class: "badge", role: "status" })
  const words = el("span", { class: "facts" })
  const bar = el("progress", { max: 1, value: 0, "aria-label": "Share of all training steps" })
  const problem = el("p", { class: "problem", hidden: true })
  const root = el("div", { class: "status" }, el("div", { class: "line" }, badge, words), bar, problem)
  const names = { running: "Running", finished: "Finished", stopped: "Stopped", failed: "Failed", kept: "Kept on this machine" }
  const say = (text) => {
    problem.textContent = text
    problem.hidden = !text
  }
  return {
    root,
    say,
    draw: (told) => {
      root.hidden = told.state === "none"
      badge.dataset.state = told.state
      if (badge.textContent !== names[told.state]) badge.textContent = names[told.state] ?? told.state
      words.textContent = told.words
      bar.value = told.share
      bar.style.visibility = told.state === "running" ? "visible" : "hidden"
      say(told.problem)
    },
  }
}

function evidenceSection({ id, title, width }) {
  const note = el("p", { class: "note" })
  const grid = el("div", { class: "panels", style: `--least: ${width}px` })
  const table = el("div", { class: "numbers" })
  const root = el("section", { class: "section", "data-id": id, "aria-label": title }, el("h3", {}, title), note, grid, table)
  let told = ""
  return {
    root,
    grid,
    draw: (section) => {
      root.firstChild.textContent = section.title
      note.textContent = section.note
      const now = JSON.stringify(section.table)
      if (now === told || !section.table) return
      told = now
      const { summary, head, rows } = section.table
      const open = table.querySelector("details")?.open ?? false
      const line = (cells, kind) => el("tr", {}, ...cells.map((cell, at) => el(at ? kind : "th", at ? {} : { scope: "row" }, cell)))
      const body = el("table", {}, el("thead", {}, line(head, "th")), el("tbody", {}, ...rows.map((row) => line(row, "td"))))
      table.replaceChildren(el("details", { open }, el("summary", {}, summary), el("div", { class: "scroll" }, body)))
    },
  }
}

function evidencePanel({ id, height }) {
  const title = el("h4", {})
  const kind = el("span", { class: "kind" })
  const chip = el("span", { class: "chip" })
  const lines = el("div", { class: "lines" })
  const words = el("p", { class: "words" })
  const plot = el("div", { class: "plot", role: "img", style: `height: ${height}px` })
  const root = el("article", { class: `card ${id.split(".")[0]}`, "data-id": id }, el("header", {}, title, kind, chip), lines, plot, words)
  let drawn = ""
  const panel = { root, plot, dirty: true, near: false, figure: null }
  panel.tell = (told, theme) => {
    const set = (node, text) => {
      if (node.textContent !== (text ?? "")) node.textContent = text ?? ""
      node.hidden = !text
    }
    set(title, told.title)
    set(kind, told.kind)
    set(chip, told.chip)
    if (told.facts) {
      if (words.textContent !== told.facts.join("")) words.replaceChildren(...told.facts.map((fact) => el("span", {}, fact)))
    } else set(words, told.words)
    chip.dataset.kind = (told.chip ?? "").replace(/^so far /, "").replace(/ /g, "-")
    if (told.tone) root.style.setProperty("--tone", told.tone[theme])
    if (lines.textContent !== (told.lines ?? []).join("")) lines.replaceChildren(...(told.lines ?? []).map((text) => el("p", {}, text)))
    plot.setAttribute("aria-label", told.alt)
    plot.style.height = `${told.height}px`
    const figure = JSON.stringify(told.figure)
    if (figure !== drawn) {
      drawn = figure
      panel.figure = told.figure
      panel.dirty = true
    }
  }
  return panel
}

/** Put a panel's figure up or bring it up to date, on the same node. */
function paint(state, panel) {
  const { theme } = state
  const data = panel.figure.data.map((trace) => toned(trace, theme.name))
  const layout = dressed(panel.figure.layout, theme, state.data.experiment)
  layout.shapes = layout.shapes?.map((shape) => (shape.type === "rect" ? { ...shape, fillcolor: fade(theme.ink, 0.07), line: { width: 0 } } : shape))
  state.plotly.react(panel.plot, data, layout, QUIET)
  panel.plot.dataset.draws = Number(panel.plot.dataset.draws ?? 0) + 1
}

/** A trace in the colours of the theme shown: its line, its marks and their edges. */
function toned(trace, theme) {
  const color = trace.meta?.color?.[theme]
  if (!color) return trace
  const painted = { ...trace, meta: undefined }
  if (trace.line) painted.line = { ...trace.line, color }
  if (trace.marker) painted.marker = { ...trace.marker, color, line: { ...trace.marker.line, color } }
  return painted
}

const evidences = new WeakMap()

export default function ({ data: [data], parentElement }) {
  let state = evidences.get(parentElement)
  if (!state) {
    const canvas = parentElement.querySelector(".evidence")
    canvas.dataset.plotly = data.plotly
    state = newEvidence(parentElement.host ?? parentElement, canvas)
    evidences.set(parentElement, state)
  }
  state.hear(data)
  // Streamlit also calls this when the next data overtake these, while the board lives on: then it is still in the page.
  return () =>
    setTimeout(() => {
      if (state.host.isConnected || evidences.get(parentElement) !== state) return
      state.end()
      evidences.delete(parentElement)
    })
}
