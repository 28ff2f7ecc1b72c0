// Where news comes from: one event stream or, where that is swallowed on the way, the page's own polling.

const TIMEOUT = 3000 // milliseconds until a silent stream is given up

function openStream(board, { onNews, onSilence }) {
  const address = new URL(`live/${encodeURIComponent(board.data.run)}?after=${board.have}`, appAddress())
  const source = new EventSource(address)
  const giveUp = () => {
    close()
    onSilence()
  }
  let patience = setTimeout(giveUp, TIMEOUT)
  const close = () => {
    clearTimeout(patience)
    source.close()
  }
  source.onmessage = (event) => {
    clearTimeout(patience)
    const news = JSON.parse(event.data)
    if (news.end) close()
    onNews(news)
  }
  source.onerror = () => {
    if (source.readyState === EventSource.CLOSED && !board.ended()) giveUp()
  }
  return close
}
