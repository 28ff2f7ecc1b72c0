// Replay: a slider over the received snapshots, and a player. A recorded run is played as if it were live.

const REST = 4 // seconds at the end of a recording before it starts again
const FRAME = 0.1
const FRAMES_A_SECOND = 6 // snapshots, when a live run's are played again

function replayBar(board) {
  const play = el("button", { type: "button", class: "play", "aria-label": "Play", onclick: () => toggle() }, "▶")
  const slider = el("input", { type: "range", min: 0, max: 0, value: 0, "aria-label": "Look back at a step", oninput: () => seek(Number(slider.value)) })
  const label = el("span", { class: "at" }, "")
  const live = el("button", { type: "button", class: "live", onclick: () => follow() }, "Live")
  const root = el("div", { class: "replay" }, play, slider, label, live)
  let timer = null
  let clock = 0

  const show = (place) => {
    board.looking = place
    board.painter.touchAll()
  }
  const seek = (place) => {
    stop()
    if (board.recorded()) board.cut = board.snapshots[place].step
    show(place)
  }
  const follow = () => {
    stop()
    board.cut = Infinity
    show(null)
  }
  const stop = () => {
    clearInterval(timer)
    timer = null
    draw()
  }
  const toggle = () => (timer ? stop() : start())
  const start = () => {
    clearInterval(timer)
    const { seconds } = board.data
    const last = board.snapshots.length - 1
    if (board.recorded()) {
      clock = board.cut >= board.status.step ? 0 : (board.cut / board.status.step) * seconds
      timer = setInterval(() => playRecorded(seconds), FRAME * 1000)
    } else {
      let place = board.looking == null || board.looking >= last ? -1 : board.looking
      timer = setInterval(() => {
        place += 1
        if (place >= board.snapshots.length - 1) stop()
        show(Math.min(place, board.snapshots.length - 1))
      }, 1000 / FRAMES_A_SECOND)
    }
    draw()
  }
  const playRecorded = (seconds) => {
    clock += FRAME
    if (clock > seconds + REST) clock = 0
    const share = Math.min(1, clock / seconds)
    board.cut = Math.max(1, Math.round(share * board.status.step))
    const next = board.snapshots.findIndex((snapshot) => snapshot.step > board.cut)
    show(next < 0 ? board.snapshots.length - 1 : Math.max(0, next - 1))
  }
  const draw = () => {
    const last = board.snapshots.length - 1
    root.style.visibility = last < 1 ? "hidden" : "visible" // its place stays, so that nothing jumps
    slider.max = Math.max(0, last)
    slider.value = board.looking ?? last
    const at = board.snapshot()?.step
    label.textContent = at == null ? "" : `looking at step ${at.toLocaleString("en")}`
    slider.setAttribute("aria-valuetext", label.textContent)
    play.textContent = timer ? "❚❚" : "▶"
    play.setAttribute("aria-label", timer ? "Pause the replay" : "Play the snapshots")
    live.hidden = board.recorded()
    live.textContent = board.ended() ? "Latest" : "Live"
    live.setAttribute("aria-pressed", board.looking == null)
  }
  return { root, draw, start, stop, seek, playing: () => timer != null }
}
