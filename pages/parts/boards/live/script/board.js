// The board: the state of a run, the panels that show it, and the timer that redraws them.

const BEAT = 95 // milliseconds between redraws
const BUDGET = 40 // milliseconds of drawing before the browser may paint
const MOST_SNAPSHOTS = 150

function newBoard(host, canvas) {
  const board = { host, data: {}, plotly: null, theme: readTheme(host), panels: [] }
  const tip = el("div", { class: "tip", hidden: true })
  const grid = el("div", { class: "grid" })
  let pending = null
  let drawnAt = 0
  let close = () => {}
  let swallowed = false
  const mount = Math.random().toString(36).slice(2) // A board that is mounted again has no data: the page must send all of it.

  const forget = () => {
    Object.assign(board, { columns: {}, figures: {}, snapshots: [], have: 0, looking: null, cut: Infinity, reported: null })
    board.panels.forEach(({ wait, waiting }) => (wait.textContent = board.data.run ? waiting : "no run yet"))
    board.status = { state: board.data.run ? "queued" : "none", step: 0, steps: 0, problem: "" }
  }
  forget()

  board.exact = exactNumbers(board)
  board.column = (name) => upto(board.columns[name] ?? [[], []], board.cut)
  board.snapshot = () => board.snapshots[board.looking ?? board.snapshots.length - 1]
  board.recorded = () => board.data.seconds != null
  board.ended = () => !["none", "queued", "running", "paused"].includes(board.status.state)
  board.shownStep = () => Math.min(board.status.step, board.cut)
  board.replayedStep = () => (board.looking == null || board.recorded() ? null : board.snapshot()?.step)

  board.touch = (...panels) => {
    panels.forEach((panel) => (panel.dirty = true))
    pending ??= setTimeout(() => requestAnimationFrame(() => draw()), Math.max(0, drawnAt + BEAT - performance.now()))
  }
  board.touchAll = () => board.touch(...board.panels)
  board.describe = (panel, say) => {
    if (performance.now() - (panel.described ?? -1e9) < 1000 && !board.ended()) return
    panel.described = performance.now()
    panel.plot.setAttribute("aria-label", say())
  }
  board.tip = (text, event) => {
    tip.hidden = !text
    if (!text) return
    tip.textContent = text
    const box = canvas.getBoundingClientRect()
    const left = Math.min(event.clientX - box.left + 14, box.width - tip.offsetWidth - 4)
    tip.style.transform = `translate(${Math.max(0, left)}px, ${event.clientY - box.top + 16}px)`
  }

  const status = statusLine(board)
  const replay = replayBar(board)
  canvas.append(status.root, replay.root, grid, tip)

  /** Redraw the panels that changed, the one drawn longest ago first; after the budget the browser may paint before the rest. */
  const draw = ({ going = false, budget = BUDGET } = {}) => {
    pending = null
    if (!board.plotly) return
    const began = performance.now()
    if (!going) drawnAt = began
    status.draw()
    replay.draw()
    const due = board.panels.filter((panel) => panel.dirty && panel.visible).sort((a, b) => a.drawnAt - b.drawnAt)
    for (const panel of due) {
      if (panel !== due[0] && performance.now() - began > budget) {
        pending = setTimeout(() => requestAnimationFrame(() => draw({ going: true })))
        return
      }
      panel.dirty = false
      panel.drawnAt = began
      panel.draw()
    }
  }

  /** Draw the first point at once, without waiting for the timer or for the other panels. */
  const hurry = () => {
    clearTimeout(pending)
    pending = setTimeout(() => requestAnimationFrame(() => draw({ budget: 0 })))
    board.panels.forEach((panel) => (panel.drawnAt = 0))
  }

  const seen = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      const panel = board.panels.find(({ root }) => root === target)
      if (!panel) continue
      panel.visible = isIntersecting
      if (isIntersecting && panel.dirty) board.touch(panel)
    }
  }, { rootMargin: "200px" })
  const sized = new ResizeObserver((entries) => {
    for (const { target } of entries) if (target.data && target.offsetWidth) board.plotly.Plots.resize(target)
  })

  /** Panels are made once, and again only when the list of panels changes. */
  const furnish = () => {
    const wanted = JSON.stringify([board.data.panels, board.data.titles])
    if (grid.dataset.wanted === wanted) return
    grid.dataset.wanted = wanted
    leave()
    board.panels = board.data.panels.flatMap((name) => panelsOf(board, name))
    grid.replaceChildren(...board.panels.map(({ root }) => root))
    board.panels.forEach(({ root, plot }) => (seen.observe(root), sized.observe(plot)))
  }
  const leave = () => {
    seen.disconnect()
    sized.disconnect()
    board.panels.forEach(({ plot }) => plot.data && board.plotly.purge(plot))
  }

  /** Take in a message: the same whether it was streamed, polled or recorded. */
  board.take = (news) => {
    const before = board.ended()
    if (!board.status.step && news.status.step) hurry()
    append(board.columns, news.columns ?? {})
    Object.assign(board.figures, news.figures ?? {})
    for (const snapshot of news.snapshots ?? []) keep(snapshot)
    board.have = Math.max(board.have, news.last)
    board.status = news.status
    const ended = board.ended() && !before
    board.touch(...board.panels.filter((panel) => ended || panel.concerns(news)))
    report()
  }
  const keep = (snapshot) => {
    const last = board.snapshots[board.snapshots.length - 1]
    if (last && snapshot.step < last.step) return
    if (last?.step === snapshot.step) board.snapshots.pop()
    board.snapshots.push(snapshot)
    if (board.snapshots.length > MOST_SNAPSHOTS) {
      board.snapshots = board.snapshots.filter((_, place, all) => place % 2 === 0 || place === all.length - 1)
      if (board.looking != null) board.looking = Math.floor(board.looking / 2)
    }
  }
  /** Tell the page when its buttons are out of date: the run has paused, resumed or ended. */
  const report = () => {
    const kind = (state) => (state === "queued" ? "running" : state)
    const state = kind(board.status.state)
    if (board.recorded() || state === kind(board.data.state) || state === board.reported) return
    board.reported = state
    board.say("state", board.status.state)
  }

  const begin = () => {
    if (board.data.recording) {
      board.take(board.data.recording)
      if (window.matchMedia("(prefers-reduced-motion: reduce)").matches) return
      board.cut = 1
      replay.start()
    } else if (board.data.run) {
      if (swallowed) askToBePolled()
      else close = openStream(board, { onNews: board.take, onSilence: askToBePolled })
    }
  }
  const askToBePolled = () => {
    swallowed = true
    board.say("fallback", `${board.data.run}/${mount}`)
  }

  /** Take the page's data: called on each rerun, with new events where the page polls. */
  board.hear = (data, say) => {
    const before = board.data
    board.data = data
    board.say = say
    board.theme = readTheme(host)
    canvas.style.colorScheme = board.theme.name
    if (before.state !== data.state) board.reported = null
    furnish()
    if (data.run !== before.run) {
      close()
      replay.stop()
      forget()
      begin()
    }
    if (data.polled?.asked === `${data.run}/${mount}`) board.take(data.polled)
    board.touchAll()
  }
  board.end = () => {
    close()
    replay.stop()
    clearTimeout(pending)
    leave()
  }
  loadPlotly(canvas.dataset.plotly).then((plotly) => {
    board.plotly = plotly
    if (!board.data.run) warmUp(plotly)
    board.touchAll()
  }, () => board.panels.forEach(({ wait }) => (wait.textContent = "The chart library could not be loaded. Reload the page.")))
  return board
}

function panelsOf(board, name) {
  const { titles } = board.data
  if (name === "attention") return attentionPanels(board, titles)
  if (name === "encoding") return encodingPanels(board, titles)
  if (name === "memory") return [memoryPanel(board, titles.memory)]
  if (name === "samples") return [samplesPanel(board, titles.samples)]
  if (name === "written") return [writtenPanel(board, titles.written)]
  return [linePanel(board, name, titles[name])]
}

/** Draw a hidden figure, so that the browser compiles Plotly's code before the first curve needs it. */
function warmUp(plotly) {
  const nowhere = el("div")
  const axes = { xaxis: { range: [0, 1] }, shapes: [{ type: "line", x0: 0, x1: 1, y0: 0, y1: 0, label: { text: "0" } }] }
  plotly.newPlot(nowhere, [{ x: [0, 1], y: [0, 1] }], { width: 300, height: 200, showlegend: true, ...axes }, QUIET).then(() => plotly.purge(nowhere))
}

const boards = new WeakMap()

export default function ({ data: [data], parentElement, setStateValue }) {
  let board = boards.get(parentElement)
  if (!board) {
    const canvas = parentElement.querySelector(".board")
    canvas.dataset.plotly = data.plotly
    board = newBoard(parentElement.host ?? parentElement, canvas)
    boards.set(parentElement, board)
  }
  board.hear(data, setStateValue)
  // Streamlit also calls this when newer data replace these; the board is then still in the page and must stay.
  return () =>
    setTimeout(() => {
      if (board.host.isConnected || boards.get(parentElement) !== board) return
      board.end()
      boards.delete(parentElement)
    })
}
