// A panel's shell: title, switches, the plot and its waiting text.

/** A card with a heading and a body of fixed height, which may hold a plot. `concerns` tells whether news changes it. */
function shell(board, name, title, { plotted = true, waiting = "waiting for the first step" } = {}) {
  const tools = el("div", { class: "tools" })
  const body = el("div", { class: "body" })
  const wait = el("p", { class: "waiting" }, waiting)
  const root = el("section", { class: `panel ${name}`, "aria-label": title }, el("header", {}, el("h3", {}, `${title} `, termLink(board.data.terms[name], title)), tools), body)
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
