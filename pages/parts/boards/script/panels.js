// Sections of panels by their ids. A plot is one node from its first figure to its last.

const NEAR = "300px"
const STINT = 40 // milliseconds of drawing before the browser may paint

function newPanels(host, canvas) {
  const state = { host, data: null, theme: readTheme(host), plotly: null, panels: new Map(), sections: new Map(), say: () => {} }
  const status = statusOfPanels()
  const root = el("div", { class: "sections" })
  const spoken = el("span", { class: "spoken", role: "status" })
  canvas.append(status.root, root, spoken)
  let pending = null

  const touch = () => (pending ??= requestAnimationFrame(() => draw(STINT)))
  const draw = (stint) => {
    pending = null
    if (!state.plotly) return
    const began = performance.now()
    let drawn = 0
    for (const panel of state.panels.values()) {
      if (!panel.dirty || !panel.near || panel.plot._dragging) continue
      if (drawn++ && performance.now() - began > stint) return touch()
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
  }, { rootMargin: NEAR, scrollMargin: NEAR }) // the page scrolls inside an element of its own, to which only scrollMargin applies
  const sized = new ResizeObserver((entries) => {
    for (const { target } of entries) if (target.data && target.offsetWidth) state.plotly.Plots.resize(target)
  })

  /** Highlight a place, and in every other figure the parts it shares with it; null clears. From the keyboard, announce it too. */
  state.point = (panel, at, aloud = false) => {
    const pointed = at ? { [panel.link[1]]: at.y, [panel.link[0]]: at.x, "": undefined } : {}
    for (const other of state.panels.values()) {
      const [x, y] = other.link.map((name) => pointed[name])
      other.mark(other === panel ? at : { x, y })
    }
    if (aloud && at) spoken.textContent = placeInWords(panel, at)
  }
  state.pick = (panel, { x, y }) => panel.picks && state.say("picked", { panel: panel.id, x, y })

  state.hear = (data, say) => {
    const theme = readTheme(host)
    const recolour = JSON.stringify(theme) !== JSON.stringify(state.theme)
    const other = state.data && state.data.subject !== data.subject
    state.theme = theme
    state.say = say
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
    holdOnly(root, data.sections.map(({ id }) => state.sections.get(id).root))
    cancelAnimationFrame(pending)
    draw(0) // The first figure is drawn before the others, and before Streamlit updates the rest of the page.
  }

  const furnish = (section, wanted) => {
    if (!state.sections.has(section.id)) state.sections.set(section.id, sectionOfPanels(section))
    const frame = state.sections.get(section.id)
    frame.draw(section)
    const nodes = section.panels.map((told) => {
      wanted.add(told.id)
      if (!state.panels.has(told.id)) {
        const made = newPanel(state, told)
        state.panels.set(told.id, made)
        near.observe(made.plot)
        sized.observe(made.plot)
      }
      const panel = state.panels.get(told.id)
      panel.tell(told, state.theme.name)
      return panel.root
    })
    holdOnly(frame.grid, nodes)
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

/** Replace the children of a node; without a difference nothing is changed, so that the browser does no new layout. */
function holdOnly(parent, nodes) {
  if (nodes.length !== parent.children.length || nodes.some((node, at) => parent.children[at] !== node)) parent.replaceChildren(...nodes)
}

const STATUS = {
  running: "Running", finished: "Finished", stopped: "Stopped", failed: "Failed",
  kept: "Kept on this machine", shipped: "Measured when this version was made",
}

/** The line above the panels; hidden where there is nothing to follow. */
function statusOfPanels() {
  const badge = el("span", { class: "badge", role: "status" })
  const words = el("span", { class: "facts" })
  const bar = el("progress", { max: 1, value: 0, "aria-label": "Share of the work that is done" })
  const problem = el("p", { class: "problem", hidden: true })
  const line = el("div", { class: "status" }, el("div", { class: "line" }, badge, words), bar)
  const root = el("div", {}, line, problem)
  const say = (text) => {
    problem.textContent = text
    problem.hidden = !text
  }
  return {
    root,
    say,
    draw: (told) => {
      line.hidden = told.state === "none"
      badge.dataset.state = told.state
      if (badge.textContent !== STATUS[told.state]) badge.textContent = STATUS[told.state] ?? told.state
      words.textContent = told.words
      bar.value = told.share
      bar.style.visibility = told.state === "running" ? "visible" : "hidden"
      say(told.problem)
    },
  }
}

function sectionOfPanels({ id, title }) {
  const heading = el("h3", {})
  const note = el("p", { class: "note" })
  const grid = el("div", { class: "panels" })
  const table = el("div", { class: "numbers" })
  const root = el("section", { class: "section", "data-id": id, "aria-label": title || id }, heading, note, grid, table)
  let told = ""
  return {
    root,
    grid,
    draw: (section) => {
      heading.textContent = section.title
      heading.hidden = !section.title
      note.textContent = section.note
      note.hidden = !section.note
      grid.style.setProperty("--least", `${section.width}px`)
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

const boards = new WeakMap()

export default function ({ data: [data], parentElement, setTriggerValue }) {
  let state = boards.get(parentElement)
  if (!state) {
    const canvas = parentElement.querySelector(".figures")
    canvas.dataset.plotly = data.plotly
    state = newPanels(parentElement.host ?? parentElement, canvas)
    boards.set(parentElement, state)
  }
  state.hear(data, setTriggerValue)
  // Streamlit also calls this when newer data replace these; the board is then still in the page and must stay.
  return () =>
    setTimeout(() => {
      if (state.host.isConnected || boards.get(parentElement) !== state) return
      state.end()
      boards.delete(parentElement)
    })
}
