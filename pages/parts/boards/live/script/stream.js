// The source of new events: one event stream or, where a proxy blocks it, the page's polling.

const TIMEOUT = 3000 // milliseconds after which a silent stream is given up

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
