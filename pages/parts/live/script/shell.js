// A panel's shell: title, switches, downloads, the plot and its waiting text.

const QUIET = { displayModeBar: false, responsive: false, doubleClick: "reset+autosize", showTips: false }
const TOUCH = window.matchMedia("(pointer: coarse)").matches

/** A card with a heading and a body of fixed height, which may hold a plot. `concerns` tells whether news changes it. */
function shell(name, title, { plotted = true, waiting = "waiting for the first step" } = {}) {
  const tools = el("div", { class: "tools" })
  const body = el("div", { class: "body" })
  const wait = el("p", { class: "waiting" }, waiting)
  const root = el("section", { class: `panel ${name}`, "aria-label": title }, el("header", {}, el("h3", {}, title), tools), body)
  const plot = el("div", { class: "plot", role: "img", "aria-label": `${title}: ${waiting}` })
  body.append(...(plotted ? [plot] : []), wait)
  const concerns = (news) => Boolean(news.snapshots?.length)
  return { name, title, waiting, root, tools, body, plot, wait, concerns, dirty: true, visible: true, drawnAt: 0 }
}

/** Buttons of which exactly one is pressed. */
function choice(label, options, chosen, onChoose) {
  const group = el("div", { class: "choice", role: "group", "aria-label": label })
  const press = (name) => [...group.children].forEach((button) => button.setAttribute("aria-pressed", button.dataset.name === name))
  for (const [name, text] of Object.entries(options)) {
    group.append(
      el("button", { type: "button", "data-name": name, onclick: () => (press(name), onChoose(name)) }, text),
    )
  }
  press(chosen)
  return group
}

/** Put a figure up or bring it up to date; zoom and legend choices stay as long as the run is the same. */
function put(board, panel, traces, layout) {
  if (panel.plot._dragging) return void (panel.dirty = true)
  const { theme } = board
  panel.wait.hidden = true
  panel.plot.hidden = false
  const shown = traces.map((trace) => coloured(trace, theme.name))
  const revision = (panel.plot.layout?.datarevision ?? 0) + 1 // The columns grow in place; without this Plotly sees no change.
  board.plotly.react(panel.plot, shown, { ...dressed(layout, theme, board.data.run), datarevision: revision }, QUIET)
  panel.drawn = { traces: shown, layout }
}

function coloured(trace, theme) {
  const color = trace.meta?.color?.[theme]
  const scale = trace.meta?.scale?.[theme]
  if (scale) return { ...trace, colorscale: scale }
  if (!color) return trace
  return trace.type === "bar" ? { ...trace, marker: { ...trace.marker, color } } : { ...trace, line: { ...trace.line, color } }
}

function dressed(layout, theme, run) {
  const lines = { gridcolor: fade(theme.ink, 0.12), linecolor: fade(theme.ink, 0.4), fixedrange: TOUCH }
  const muted = fade(theme.ink, 0.75)
  return {
    ...layout,
    autosize: true,
    uirevision: run,
    dragmode: TOUCH ? false : "zoom",
    font: { ...layout.font, color: theme.ink, family: theme.font },
    hoverlabel: { ...layout.hoverlabel, bgcolor: theme.surface, bordercolor: theme.border, font: { color: theme.ink, family: theme.font } },
    xaxis: { ...layout.xaxis, ...lines },
    yaxis: { ...layout.yaxis, ...lines },
    shapes: layout.shapes?.map((shape) => ({
      ...shape,
      line: { ...shape.line, color: shape.name === "accent" ? theme.ink : muted },
      label: shape.label && { ...shape.label, font: { ...shape.label.font, color: muted } },
    })),
    annotations: layout.annotations?.map((note) => ({ ...note, font: { ...note.font, color: muted } })),
  }
}

/** The menu that saves what a panel shows: picture for slides, drawing for papers, numbers for everything else. */
function downloads(board, panel) {
  const save = async (format) => {
    menu.open = false
    if (!panel.drawn) return
    const heading = [panel.title, panel.detail, board.data.name].filter(Boolean).join(", ")
    const name = `${board.data.name || "run"} ${panel.title} ${panel.detail ?? ""}`.trim().replace(/[^\p{L}\p{N}]+/gu, "-").toLowerCase()
    if (format === "csv") return saveText(`${name}.csv`, csvOf(panel.drawn))
    const { theme } = board
    const layout = dressed(panel.drawn.layout, theme, "")
    const margin = { ...layout.margin, t: (layout.margin?.t ?? 30) + 40 }
    const title = { text: plainText(heading), x: 0.02, y: 0.97, yanchor: "top" }
    const [width, height] = [panel.plot.offsetWidth, panel.plot.offsetHeight + 40]
    const legend = { ...layout.legend, y: 1 - 34 / height }
    const figure = { data: panel.drawn.traces, layout: { ...layout, margin, title, legend, paper_bgcolor: theme.surface } }
    saveAddress(`${name}.${format}`, await board.plotly.toImage(figure, { format, width, height, scale: format === "png" ? 3 : 1 }))
  }
  const item = (format, text) => el("button", { type: "button", role: "menuitem", onclick: () => save(format) }, text)
  const reset = el("button", { type: "button", role: "menuitem", onclick: () => ((menu.open = false), resetZoom(board, panel)) }, "Reset zoom")
  const menu = el(
    "details",
    { class: "menu" },
    el("summary", { "aria-label": `Download ${panel.title}`, title: "Download" }, "⤓"),
    el("div", { role: "menu" }, item("png", "Picture (PNG)"), item("svg", "Drawing (SVG)"), item("csv", "Data (CSV)"), reset),
  )
  menu.onkeydown = (event) => {
    if (event.key === "Escape") {
      menu.open = false
      menu.firstChild.focus()
    }
  }
  menu.addEventListener("focusout", (event) => {
    if (!menu.contains(event.relatedTarget)) menu.open = false
  })
  return menu
}

function resetZoom(board, panel) {
  const { xaxis = {}, yaxis = {} } = panel.drawn?.layout ?? {}
  const back = (axis) => (axis.range ? { range: [...axis.range] } : { autorange: axis.autorange ?? true })
  const change = {}
  for (const [name, axis] of [["xaxis", xaxis], ["yaxis", yaxis]])
    for (const [key, value] of Object.entries(back(axis))) change[`${name}.${key}`] = value
  if (panel.drawn) board.plotly.relayout(panel.plot, change)
}

/** Plotly reads a little markup in titles; a run's name is only text. */
const plainText = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;")

function csvOf({ traces }) {
  const cell = (value) => (/[",\n]/.test(`${value ?? ""}`) ? `"${`${value}`.replace(/"/g, '""')}"` : `${value ?? ""}`)
  const rows = [["series", "x", "y", "value"]]
  for (const trace of traces) {
    if (trace.type === "heatmap") trace.z?.forEach((line, y) => Array.from(line).forEach((value, x) => value != null && rows.push([trace.meta.which ?? trace.meta.grid, x, y, value])))
    else trace.x.forEach((x, i) => rows.push([trace.meta?.label ?? trace.name, x, trace.y[i], ""]))
  }
  return rows.map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n"
}

function saveText(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/csv" }))
  saveAddress(name, address)
  setTimeout(() => URL.revokeObjectURL(address), 10_000)
}

const saveAddress = (name, href) => el("a", { href, download: name }).click()
