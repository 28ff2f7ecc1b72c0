// New events of a run over an event stream. Where a proxy swallows it or the server has enough of them, the page polls
// instead.

import { appAddress } from "../../shell/script/dom.js"

/** @import { LiveBoard, News } from "./types.d.ts" */

// Milliseconds after which a silent stream is given up: polling costs a busy server far more than waiting.
const TIMEOUT = 8000

/** Follow the board's run from the event that it `have`s on; gives a function that ends it. `onSilence`: no stream gets
 * through; `onRefusal`: the server gives none now.
 *
 * While the tab is hidden the stream is closed: a browser opens six connections to a host, and other tabs need them.
 *
 * @param {LiveBoard} board
 * @param {{onNews: (news: News) => void, onSilence: () => void, onRefusal: () => void}} heard
 */
export function followRun(board, { onNews, onSilence, onRefusal }) {
  /** @type {EventSource | null} */
  let source = null
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let patience

  const open = () => {
    source = new EventSource(new URL(`live/${encodeURIComponent(board.data.run)}?after=${board.have}`, appAddress()))
    patience = setTimeout(() => giveUp(onSilence), TIMEOUT)
    source.onmessage = (event) => {
      clearTimeout(patience)
      const news = JSON.parse(event.data)
      if (news.end) end()
      onNews(news)
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
    if (!document.hidden) open()
  }
  const end = () => {
    document.removeEventListener("visibilitychange", turn)
    close()
  }
  const giveUp = (/** @type {() => void} */ why) => {
    end()
    why()
  }
  document.addEventListener("visibilitychange", turn)
  turn()
  return end
}
