// New events of a run over an event stream. Where a proxy swallows it or the server has enough of them, the page polls
// instead.

import { inApp } from "../../shell/script/dom.js"

/** @import { LiveBoard, News } from "./types.d.ts" */

// Milliseconds after which a silent stream is given up: polling costs a busy server far more than waiting.
const TIMEOUT = 8000
// Milliseconds of polling after which the stream is tried again: a server that was late once may answer by now.
const AGAIN = 60000

/** Follow the board's run from the event that it `have`s on; gives a function that ends it. `onSilence`: no stream gets
 * through; `onRefusal`: the server gives none now. After either the page polls, and while it does the stream is tried again now
 * and then; `onBack`: it gets through. What both bring is the same, and the board takes no event twice. `polled`: begin with
 * polling, as no stream of an earlier run got through.
 *
 * While the tab is hidden the stream is closed: a browser opens six connections to a host, and other tabs need them.
 *
 * @param {LiveBoard} board
 * @param {{onNews: (news: News) => void, onSilence: () => void, onRefusal: () => void, onBack: () => void}} heard
 */
export function followRun(board, { onNews, onSilence, onRefusal, onBack }, polled = false) {
  /** @type {EventSource | null} */
  let source = null
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let patience
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let again

  const open = () => {
    source = new EventSource(inApp(`live/${encodeURIComponent(board.data.run)}?after=${board.have}`))
    patience = setTimeout(() => giveUp(onSilence), TIMEOUT)
    source.onmessage = (event) => {
      clearTimeout(patience)
      const news = JSON.parse(event.data)
      if (news.end) end()
      onNews(news)
      if (polled) onBack()
      polled = false
    }
    const mine = source
    source.onerror = () => {
      if (mine === source && mine.readyState === EventSource.CLOSED && !board.ended()) giveUp(onRefusal)
    }
  }
  const close = () => {
    clearTimeout(patience)
    source?.close()
    source = null
  }
  const turn = () => {
    close()
    if (!document.hidden && again === undefined) open()
  }
  const end = () => {
    document.removeEventListener("visibilitychange", turn)
    clearTimeout(again)
    close()
  }
  const giveUp = (/** @type {() => void} */ why) => {
    close()
    tryLater()
    if (!polled) why()
    polled = true
  }
  const tryLater = () => {
    again = setTimeout(() => {
      again = undefined
      if (board.ended()) end()
      else turn()
    }, AGAIN)
  }
  document.addEventListener("visibilitychange", turn)
  if (polled) tryLater()
  else turn()
  return end
}
