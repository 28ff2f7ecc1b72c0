// One panel: its heading, its text, its plot, and the highlighted place, which pointer and arrow keys set.

function newPanel(state, { id, title: name }) {
  const title = el("h4", {})
  const kind = el("span", { class: "kind" })
  const chip = el("span", { class: "chip" })
  const tools = el("span", { class: "tools" })
  const lines = el("div", { class: "lines" })
  const words = el("p", { class: "words" })
  const plot = el("div", { class: "plot", role: "img", tabindex: 0 })
  const bands = [el("div", { class: "band" }), el("div", { class: "band" })]
  const stage = el("div", { class: "stage" }, plot, ...bands)
  const root = el("article", { class: `card ${id.split(".")[0]}`, "data-id": id }, el("header", {}, title, kind, chip, tools), lines, stage, words)
  const panel = { id, title: name, detail: "", root, plot, bands, dirty: true, near: false, figure: null, drawn: null }
  tools.append(downloads(state, panel))
  plot.onkeydown = (event) => stepThrough(state, panel, event)
  plot.onblur = () => state.point(panel, null)
  let drawn = ""

  panel.tell = (told, theme) => {
    const set = (node, text) => {
      if (node.textContent !== (text ?? "")) node.textContent = text ?? ""
      node.hidden = !text
    }
    Object.assign(panel, { title: told.title, link: told.link ?? ["", ""], picks: Boolean(told.picks) })
    set(title, told.title)
    set(kind, told.kind)
    set(chip, told.chip)
    if (told.facts) {
      if (words.textContent !== told.facts.join("")) words.replaceChildren(...told.facts.map((fact) => el("span", {}, fact)))
    } else set(words, told.words)
    chip.dataset.kind = (told.chip ?? "").replace(/^so far /, "").replace(/ /g, "-")
    if (told.tone) root.style.setProperty("--tone", told.tone[theme])
    if (lines.textContent !== (told.lines ?? []).join("")) lines.replaceChildren(...(told.lines ?? []).map((text) => el("p", {}, text)))
    if (told.term && !tools.querySelector(".term")) tools.prepend(termLink(told.term, told.title))
    root.classList.toggle("wide", Boolean(told.wide))
    plot.setAttribute("aria-label", told.alt)
    plot.style.height = `${told.height}px`
    const figure = JSON.stringify(told.figure)
    if (figure !== drawn) {
      drawn = figure
      panel.figure = told.figure
      panel.dirty = true
    }
  }
  panel.mark = (at) => placeBands(panel, at)
  return panel
}

/** Draw or update a panel's figure on the same node. */
function paint(state, panel) {
  const { theme } = state
  const traces = panel.figure.data.map((trace) => coloured(withText(trace), theme.name))
  const layout = dressed(panel.figure.layout, theme, state.data.subject)
  state.plotly.react(panel.plot, traces, layout, QUIET)
  panel.drawn = { traces, layout: panel.figure.layout }
  panel.plot.dataset.draws = Number(panel.plot.dataset.draws ?? 0) + 1
  panel.mark(null)
  if (panel.listening) return
  panel.listening = true
  const place = ({ points: [point] }) => ({ x: point.x, y: point.y, z: point.z, text: point.text })
  panel.plot.on("plotly_hover", (event) => state.point(panel, place(event)))
  panel.plot.on("plotly_unhover", () => state.point(panel, null))
  panel.plot.on("plotly_click", (event) => state.pick(panel, place(event)))
}

/** Highlight the row and the column of a place in an overlay, as far as they are known, without redrawing the figure. */
function placeBands(panel, at) {
  const heat = panel.drawn?.traces.find(({ type }) => type === "heatmap")
  const axes = panel.plot._fullLayout
  const [row, column] = panel.bands
  row.hidden = !axes || !heat || at?.y == null
  column.hidden = !axes || !(heat || panel.link[0]) || at?.x == null
  if (row.hidden && column.hidden) return
  const { xaxis, yaxis, _size: whole } = axes // Several strips of bars are one figure.
  const [above, high] = heat ? [yaxis._offset, yaxis._length] : [whole.t, whole.h]
  const span = (axis, value, step = 1) => {
    const ends = [-step / 2, step / 2].map((half) => axis._offset + Math.min(Math.max(axis.l2p(value + half), 0), axis._length))
    return [Math.min(...ends), Math.abs(ends[1] - ends[0])]
  }
  const place = (band, [left, width], [top, height]) => {
    band.hidden ||= !width || !height // The place is outside the visible range.
    Object.assign(band.style, { left: `${left}px`, width: `${width}px`, top: `${top}px`, height: `${height}px` })
  }
  if (!row.hidden) place(row, [xaxis._offset, xaxis._length], span(yaxis, at.y, heat.dy))
  if (!column.hidden) place(column, span(xaxis, at.x, heat?.dx), [above, high])
}

const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }

/** Arrow keys move over a heatmap's cells or a line's points, Enter picks. */
function stepThrough(state, panel, event) {
  const trace = panel.drawn?.traces[0]
  if (!trace) return
  if (event.key === "Enter" && panel.at) return state.pick(panel, panel.at)
  if (event.key === "Escape") return (state.plotly.Fx.unhover(panel.plot), state.point(panel, null))
  const step = STEPS[event.key]
  if (!step) return
  event.preventDefault()
  const points = panel.plot._fullData[0]
  const heat = trace.type === "heatmap"
  const [rows, columns] = heat ? [points.z.length, points.z[0].length] : [1, points.x?.length ?? points.y.length]
  const turned = heat && panel.plot._fullLayout.yaxis.range[0] < panel.plot._fullLayout.yaxis.range[1] ? -1 : 1
  const [row, column] = panel.index ?? [0, -1]
  panel.index = [within(row + turned * step[1], rows), within(column + step[0], columns)]
  const [i, j] = panel.index
  const along = (values, first, width, place) => (values?.length ? values[place] : (first ?? 0) + place * (width ?? 1))
  panel.at = heat
    ? { x: along(trace.x, trace.x0, trace.dx, j), y: along(trace.y, trace.y0, trace.dy, i), z: points.z[i][j], text: points.text?.[i]?.[j] }
    : { x: points.x[j], y: points.y[j] }
  state.plotly.Fx.hover(panel.plot, [{ curveNumber: 0, pointNumber: heat ? [i, j] : j }])
  state.point(panel, panel.at, true)
}

const within = (value, count) => Math.min(Math.max(value, 0), count - 1)

function placeInWords({ figure, title }, at) {
  const name = (axis, fallback) => figure.layout[axis]?.title?.text?.replaceAll("<br>", " ") ?? fallback
  const said = (value) => (typeof value === "number" ? number(value) : value)
  const place = `${at.text ?? `${name("xaxis", "x")} ${said(at.x)}`}, ${name("yaxis", "y")} ${said(at.y)}`
  return `${title}: ${place}${Number.isFinite(at.z) ? `: ${number(at.z)}` : ""}`
}
