// The untrained model of the page's settings, asked for whenever these change; an answer that comes too late is dropped.

import { appAddress } from "../../shell/script/dom.js"

const TRY_AGAIN = 2000 // milliseconds, while the server is still waking up

/** Gives `show(query)`: asks for the model of these settings; an empty query asks for nothing more. */
export function untrainedModel(board, { onNews, onProblem }) {
  let [shown, asking, again] = ["", null, null]

  const ask = async (query) => {
    asking?.abort()
    asking = new AbortController()
    const mine = asking
    try {
      const answer = await fetch(new URL(`untrained?${query}`, appAddress()), { signal: mine.signal })
      const news = await answer.json()
      if (shown === query) news.problem ? onProblem(news.problem) : onNews(news)
    } catch (error) {
      if (error.name !== "AbortError" && shown === query) {
        again = setTimeout(() => shown === query && ask(query), TRY_AGAIN)
      }
    }
  }
  const show = (query) => {
    if ((query ?? "") === shown) return
    shown = query ?? ""
    clearTimeout(again)
    asking?.abort()
    if (shown) ask(shown)
  }
  return { show }
}
