// Memory, sample predictions and the status line.

function memoryPanel(board, title) {
  const panel = shell(board, "memory", title, { waiting: "waiting for the run to start" })
  panel.tools.append(downloads(board, panel))
  panel.concerns = (news) => Boolean(news.figures?.memory)
  panel.draw = () => {
    const figure = board.figures.memory
    if (!figure) return
    put(board, panel, figure.data, figure.layout)
    const bar = (place) => figure.data.filter((trace) => trace.x[place] != null).map((trace) => `${trace.name} ${number(trace.x[place])}`)
    const measured = bar(1).length ? bar(1).join(", ") : "not yet"
    board.describe(panel, () => `${figure.layout.xaxis.title.text}. Predicted: ${bar(0).join(", ")}. Measured: ${measured}.`)
  }
  return panel
}

/** Probe sequences token by token; right and wrong by sign as well as by colour. */
function samplesPanel(board, title) {
  const panel = shell(board, "samples", title, { plotted: false, waiting: "waiting for the first look at the model" })
  const score = el("span", { class: "score" })
  const list = el("div", { class: "list", tabindex: 0, role: "group", "aria-label": title })
  panel.tools.append(score)
  panel.body.append(list)
  panel.draw = () => {
    const samples = board.snapshot()?.samples
    if (!samples?.length) return
    panel.wait.hidden = true
    const marks = samples.flatMap((sample) => sample.marks).filter((mark) => mark != null)
    score.textContent = `${marks.filter(Boolean).length} of ${marks.length} right`
    list.replaceChildren(...samples.map(sampleTable))
  }
  return panel
}

/** The text that a language model wrote at each snapshot, the latest first: the held-out prompt, then its own. */
function writtenPanel(board, title) {
  const panel = shell(board, "written", title, { plotted: false, waiting: "waiting for the first look at the model" })
  const list = el("div", { class: "texts", tabindex: 0, role: "group", "aria-label": title })
  panel.body.append(list)
  panel.draw = () => {
    const upto = board.looking == null ? board.snapshots.length : board.looking + 1
    const texts = board.snapshots.slice(0, upto).filter((snapshot) => snapshot.prompt).reverse()
    panel.wait.hidden = texts.length > 0
    list.replaceChildren(
      ...texts.map(({ step, prompt, written }) =>
        el("p", {}, el("span", { class: "step" }, `step ${step.toLocaleString("en")}`), el("span", { class: "given" }, prompt), written),
      ),
    )
  }
  return panel
}

function sampleTable(sample, place) {
  const row = (label, cells) => el("tr", {}, el("th", { scope: "row" }, label), ...cells)
  const plain = (tokens) => tokens.map((token) => el("td", {}, token))
  const judged = sample.predictions.map((token, i) => {
    const mark = sample.marks[i]
    if (mark == null) return el("td", { class: "unasked" }, "")
    return el("td", { class: mark ? "right" : "wrong" }, `${token}\u2009${mark ? "✓" : "✗"}`)
  })
  return el(
    "table",
    {},
    el("caption", {}, `Sequence ${place + 1}${sample.source.length ? `, source ${sample.source.join(" ")}` : ""}`),
    el("tbody", {}, row("reads", plain(sample.tokens)), row("answer", plain(sample.targets)), row("predicts", judged)),
  )
}

const STATES = {
  none: "Nothing trained yet", queued: "Waiting", running: "Training", paused: "Paused", finished: "Finished", failed: "Failed", stopped: "Stopped",
  lost: "Lost", recorded: "Recorded run",
}

/** State, step, speed, time left, place in the queue; the reason of a failure, and a setting that would have prevented it. */
function statusLine(board) {
  const badge = el("strong", { class: "badge" })
  const facts = el("span", { class: "facts" })
  const bar = el("progress", { max: 1, value: 0, "aria-label": "Steps done" })
  const spoken = el("span", { class: "spoken", role: "status" })
  const problem = el("p", { class: "problem", role: "alert", hidden: true })
  const root = el("div", { class: "status" }, el("div", { class: "line" }, badge, facts, spoken), bar, problem)
  const pace = []

  const draw = () => {
    const { status } = board
    const state = board.recorded() ? "recorded" : status.state
    if (badge.dataset.state !== state) {
      badge.dataset.state = state
      badge.textContent = STATES[state] ?? state
      spoken.textContent = status.step ? `${badge.textContent} at step ${status.step}` : badge.textContent
    }
    const step = board.shownStep()
    bar.max = status.steps || 1
    bar.value = step
    facts.textContent = status.steps ? sentence(status, state, step) : ""
    problem.hidden = !status.problem
    if (problem.textContent !== status.problem) problem.textContent = status.problem
  }

  const sentence = (status, state, step) => {
    const said = [`step ${step.toLocaleString("en")} of ${status.steps.toLocaleString("en")}`]
    if (state === "queued" && status.queue_place != null) said.unshift(`place ${status.queue_place} in the queue`)
    if (state === "running" && status.tokens_per_second) said.push(`${number(status.tokens_per_second)} tokens/s`)
    const left = state === "running" ? timeLeft(status) : null
    if (left != null) said.push(`${duration(left)} left`)
    return said.join(" · ")
  }

  /** The speed over the last seconds of real time, with the pace and other runs included. */
  const timeLeft = (status) => {
    const now = performance.now() / 1000
    if (pace.length && pace[pace.length - 1].step > status.step) pace.length = 0
    if (!pace.length || pace[pace.length - 1].step < status.step) pace.push({ now, step: status.step })
    while (pace.length > 2 && now - pace[0].now > 4) pace.shift()
    const [first, last] = [pace[0], pace[pace.length - 1]]
    return last.now - first.now < 0.5 ? null : ((status.steps - status.step) * (last.now - first.now)) / (last.step - first.step)
  }
  return { root, draw }
}
