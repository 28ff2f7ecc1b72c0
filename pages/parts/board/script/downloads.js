// Saving what a figure shows, made in the browser: a picture, a drawing, its numbers.

/** The menu that saves what a panel shows: picture for slides, drawing for papers, numbers for everything else.
 *
 * `board` knows `plotly`, `theme` and `data.name`; `panel` its `title`, `detail`, `plot` and what is `drawn` there.
 */
function downloads(board, panel) {
  const save = async (format) => {
    menu.open = false
    if (!panel.drawn) return
    const heading = [panel.title, panel.detail, board.data.name].filter(Boolean).join(", ")
    const name = `${board.data.name || "figure"} ${panel.title} ${panel.detail ?? ""}`.trim().replace(/[^\p{L}\p{N}]+/gu, "-").toLowerCase()
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
  const place = (values, first, step, at) => (values?.length ? values[at] : (first ?? 0) + at * (step ?? 1))
  const rows = [["series", "x", "y", "value"]]
  for (const trace of traces) {
    const { label, which, grid } = trace.meta ?? {}
    const series = label ?? which ?? grid ?? trace.name
    if (trace.type === "heatmap")
      trace.z?.forEach((line, row) => Array.from(line).forEach((value, column) => value != null
        && rows.push([series, place(trace.x, trace.x0, trace.dx, column), place(trace.y, trace.y0, trace.dy, row), value])))
    else Array.from(trace.y ?? []).forEach((y, at) => rows.push([series, place(trace.x, trace.x0, trace.dx, at), y, ""]))
  }
  return rows.map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n"
}

function saveText(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/csv" }))
  saveAddress(name, address)
  setTimeout(() => URL.revokeObjectURL(address), 10_000)
}

const saveAddress = (name, href) => el("a", { href, download: name }).click()
