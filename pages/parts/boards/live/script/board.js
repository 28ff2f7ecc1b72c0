// The source of a run's events: what the board knows of the run, and the panels that show it.

import { topPanels, topPanelsChanged } from "./top_panels.js"
import { append, exactNumbers, followRun, untrainedModel, upto } from "./data.js"
import { attentionPanels, encodingPanels } from "./heat.js"
import { linePanel, memoryPanel, newTip, samplesPanel, writtenPanel } from "./panels.js"
import { stackPanel } from "./stack/stack.js"
import { milestonesBar, replayBar, runInWords, STATES } from "./timeline.js"
import { el, holdOnly } from "../../base/script/dom.js"
import { QUIET } from "../../base/script/figure.js"
import { drawingWith } from "../../base/script/base.js"

/** @import { LiveBoard, LiveData, LivePanel, Update, Snapshot } from "./types.d.ts" */
/** @import { Before, Foreign, Source } from "../../base/script/types.d.ts" */

const DRAW_MILLISECONDS = 95 // between rounds of drawing
const MAX_BOARD_SNAPSHOTS = 150
/** @type {Record<string, (board: LiveBoard) => LivePanel | LivePanel[]>} the panels by name, other than lines */
const MAKERS = {
  attention: attentionPanels,
  heads: attentionPanels,
  pattern: () => [], // made with "attention"
  encoding: encodingPanels,
  memory: memoryPanel,
  samples: samplesPanel,
  stack: stackPanel,
  written: writtenPanel,
}

/**
 * The source of a board: what it knows of its run, and what it does with the messages of the page.
 *
 * @param {LiveBoard} board
 * @returns {Source}
 */
function sourceOf(board) {
  const [grid, folded] = [el("div", { class: "grid" }), el("div", { class: "grid" })]
  const fold = el("details", { class: "fold", hidden: true }, el("summary", {}, "More figures"), folded)
  let unfollow = () => {}
  let swallowed = false
  // A board that is mounted again has no data: the page must send all of it.
  const mount = Math.random().toString(36).slice(2)

  /**
   * Begin with a run, or with none. A run begins where the untrained model was: its figures stay until its own come.
   */
  const forget = (keepFigures = false) => {
    Object.assign(board, { columns: {}, have: 0, looking: null, untilStep: Infinity, reported: null })
    if (!keepFigures) Object.assign(board, { figures: {}, snapshots: [] })
    const first = board.data.untrained ? "making the untrained model" : "no run yet"
    board.panels.forEach(({ wait, waiting }) => (wait.textContent = board.data.run ? waiting : first))
    board.status = { state: board.data.run ? "queued" : "none", step: 0, steps: 0, problem: "" }
  }
  board.panels = []
  forget()

  board.exact = exactNumbers(board)
  board.column = (name) => upto(board.columns[name] ?? [[], []], board.untilStep)
  board.snapshot = () => board.snapshots[board.looking ?? board.snapshots.length - 1]
  board.recorded = () => Boolean(board.data.recording)
  board.ended = () => !["none", "queued", "running", "paused"].includes(board.status.state)
  board.shownStep = () => Math.min(board.status.step, board.untilStep)
  board.replayedStep = () => (board.looking == null || board.recorded() ? null : board.snapshot()?.step)

  board.describe = (panel, say) => {
    const wait = board.status.state === "running" ? 1000 - (performance.now() - (panel.described ?? -1e9)) : 0
    if (wait > 0) {
      // What is drawn last is said, too: the next drawing may not come for minutes.
      panel.describing ??= setTimeout(() => {
        panel.describing = undefined
        board.painter.touch(panel)
      }, wait)
      return
    }
    panel.described = performance.now()
    panel.plot.setAttribute("aria-label", say())
  }
  board.tip = newTip(board.canvas)

  const inWords = runInWords(board)
  const replay = replayBar(board, () => showState())
  const milestones = milestonesBar(board, replay.jumpTo)
  const bar = el("div", { class: "bar" }, replay.root, milestones.root)
  board.canvas.append(bar, grid, fold)
  /** Say where the run is: the line and the slider, both of the same step. */
  const showState = () => {
    board.statusLine.draw(inWords())
    replay.draw()
    milestones.draw()
  }

  /** Panels are made once, and again only when the list of panels changes. */
  const furnish = () => {
    const wanted = JSON.stringify(board.data.panels)
    if (grid.dataset.wanted !== wanted) {
      grid.dataset.wanted = wanted
      board.panels.forEach(board.painter.remove)
      board.enlarge = board.largeHead = board.suggest = null
      board.panels = panelsInOrder(board)
      board.panels.forEach(board.painter.add)
    }
    placePanels()
  }
  /**
   * Put each panel into the grid or below the fold, but the picture of the model above the page's columns,
   * where it is drawn.
   */
  const placePanels = () => {
    const holder = topPanels.get(board.data.top_panels ?? "")
    const above = (/** @type {LivePanel} */ panel) => holder && panel.id === "stack"
    const behind = (/** @type {LivePanel} */ { id }) => board.data.folded?.includes(id)
    const rootsOf = (/** @type {LivePanel[]} */ panels) => panels.map(({ root }) => root)
    if (holder) holdOnly(holder, rootsOf(board.panels.filter(above)))
    holdOnly(grid, rootsOf(board.panels.filter((panel) => !above(panel) && !behind(panel))))
    holdOnly(folded, rootsOf(board.panels.filter(behind)))
    fold.hidden = !folded.children.length
  }
  topPanelsChanged.add(placePanels)

  /** Take in a message of the run: the same whether it was streamed, polled or recorded. */
  const take = (/** @type {Update} */ update) => {
    // The server was started anew: it knows nothing of this page, whose buttons and sentences would stay as they are.
    if (update.server && board.server && update.server !== board.server) return location.reload()
    board.server = update.server ?? board.server
    const [begun, before] = [board.status.step > 0, board.ended()]
    append(board.columns, update.columns ?? {})
    Object.assign(board.figures, update.figures ?? {})
    board.milestones = update.milestones ?? board.milestones
    for (const snapshot of update.snapshots ?? []) keep(snapshot)
    const [latest] = board.snapshots.slice(-1)
    for (const { root, saysOf } of board.panels) if (latest && saysOf) root.hidden = !saysOf(latest)
    board.have = Math.max(board.have, update.last)
    board.status = update.status
    if (!begun && board.status.step) board.painter.hurry()
    const ended = board.ended() && !before
    const concerned = board.panels.filter((panel) => ended || panel.concerns(update))
    for (const { near, wait } of concerned) if (!near) wait.textContent = "" // it is drawn once it is scrolled to
    board.painter.touch(...concerned)
    report()
  }
  const keep = (/** @type {Snapshot} */ snapshot) => {
    const last = board.snapshots[board.snapshots.length - 1]
    if (last && snapshot.step < last.step) return
    if (last?.step === snapshot.step) board.snapshots.pop()
    board.snapshots.push(snapshot)
    if (board.snapshots.length > MAX_BOARD_SNAPSHOTS) {
      board.snapshots = board.snapshots.filter((_, index, all) => index % 2 === 0 || index === all.length - 1)
      if (board.looking != null) board.looking = Math.floor(board.looking / 2)
    }
  }
  /** Tell the page when its buttons are out of date: the run has paused, resumed or ended. */
  const report = () => {
    const kind = (/** @type {string} */ state) => (state === "queued" ? "running" : state)
    const state = kind(board.status.state)
    if (board.recorded() || state === kind(board.data.state) || state === board.reported) return
    board.reported = state
    board.setState("state", board.status.state)
  }

  const follow = () => {
    if (board.data.recording) {
      take(board.data.recording)
      if (!globalThis.matchMedia("(prefers-reduced-motion: reduce)").matches) { // else its end stands there
        replay.show(0)
        replay.playOnce(board.data.seconds)
      }
    } else if (board.data.run) {
      if (swallowed) requestPolling()
      const heard = { onUpdate: take, onSilence: noStream, onRefusal: requestPolling, onBack: streamAgain }
      unfollow = followRun(board, heard, swallowed)
    }
  }
  /** Show the untrained model of the page's settings; the picture of earlier settings stays until it is there. */
  const untrained = untrainedModel({
    onUpdate: (update) => {
      forget()
      take(update)
      board.painter.touchAll()
    },
    onProblem: (sentence) => {
      forget()
      for (const { wait, plot } of board.panels) {
        wait.textContent = sentence
        wait.hidden = false
        plot.hidden = true
      }
    },
  })
  const noStream = () => {
    swallowed = true
    requestPolling()
  }
  const streamAgain = () => {
    swallowed = false
    board.setState("fallback", "")
  }
  const requestPolling = () => {
    board.setState("fallback", `${board.data.run}/${mount}`)
  }
  const leave = () => {
    unfollow()
    replay.stop()
  }
  const end = () => {
    leave()
    untrained.show("")
    topPanelsChanged.delete(placePanels)
  }

  const hear = (/** @type {Before} */ earlier) => {
    const before = /** @type {LiveData} */ (earlier.data)
    const { data } = board
    if (before.state !== data.state) board.reported = null
    bar.hidden = board.recorded()
    board.canvas.dataset.room = data.room ?? ""
    furnish()
    if (JSON.stringify(before.view) !== JSON.stringify(data.view)) {
      board.panels.forEach((panel) => panel.showView?.(data.view ?? {}))
    }
    if (data.run !== before.run) {
      leave()
      board.subject = data.run
      forget(!before.run && board.snapshots.length > 0)
      if (before.shipped) board.panels.forEach(({ wait, plot }) => [wait.hidden, plot.hidden] = [false, true])
      follow()
    }
    untrained.show(data.run ? "" : data.untrained)
    if (data.polled?.request === `${data.run}/${mount}`) take(data.polled)
    if (data.apart?.open) { for (const panel of board.panels) panel.takeChoice?.(data.apart) }
    board.painter.touchAll()
  }
  /** Compile what the first curve needs while nothing is trained. */
  const ready = (/** @type {Foreign} */ plotly) => {
    if (!board.data.run) warmUp(plotly)
  }
  return {
    names: STATES,
    progress: false,
    interval: DRAW_MILLISECONDS,
    margin: "0px",
    begin: showState,
    ready,
    hear,
    end,
  }
}

/**
 * The panels in the order of their names; one that is made with others, as "pattern" with "attention", stands where it
 * is named.
 */
function panelsInOrder(/** @type {LiveBoard} */ board) {
  const names = board.data.panels
  const made = names.flatMap((name) => {
    const panels = [MAKERS[name] ? MAKERS[name](board) : linePanel(board, name)].flat()
    return panels.map((panel) => ({ panel, at: names.indexOf(names.includes(panel.id) ? panel.id : name) }))
  })
  return made.sort((one, other) => one.at - other.at).map(({ panel }) => panel)
}

/** Draw a hidden figure, so that the browser compiles Plotly's code before the first curve needs it. */
function warmUp(/** @type {Foreign} */ plotly) {
  const nowhere = el("div")
  const axes = {
    xaxis: { range: [0, 1] },
    shapes: [{ type: "line", x0: 0, x1: 1, y0: 0, y1: 0, label: { text: "0" } }],
  }
  plotly.newPlot(nowhere, [{ x: [0, 1], y: [0, 1] }], { width: 300, height: 200, showlegend: true, ...axes }, QUIET)
    .then(() => plotly.purge(nowhere))
}

export const draw = drawingWith(sourceOf)
