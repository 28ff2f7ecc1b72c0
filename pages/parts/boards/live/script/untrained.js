// The untrained model of the page's settings, asked for whenever these change; an answer that comes too late is
// dropped.

import { inApp } from "../../shell/script/dom.js"

/** @import { News } from "./types.d.ts" */

const TRY_AGAIN = 2000 // milliseconds, while the server is still waking up

/**
 * Gives `show(query)`: asks for the model of these settings; an empty query asks for nothing more.
 *
 * @param {{onNews: (news: News) => void, onProblem: (sentence: string) => void}} heard
 */
export function untrainedModel({ onNews, onProblem }) {
  let shown = ""
  /** @type {AbortController | null} */
  let asking = null
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let again

  const ask = async (/** @type {string} */ query) => {
    asking?.abort()
    asking = new AbortController()
    const mine = asking
    try {
      const answer = await fetch(inApp(`untrained?${query}`), { signal: mine.signal })
      const news = await answer.json()
      if (shown === query) news.problem ? onProblem(news.problem) : onNews(news)
    } catch {
      if (!mine.signal.aborted && shown === query) {
        again = setTimeout(() => shown === query && ask(query), TRY_AGAIN)
      }
    }
  }
  const show = (/** @type {string | undefined} */ query) => {
    if ((query ?? "") === shown) return
    shown = query ?? ""
    clearTimeout(again)
    asking?.abort()
    if (shown) ask(shown)
  }
  return { show }
}
