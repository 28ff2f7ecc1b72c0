// Ways between pages. This runs once, before Streamlit's own script, and not with a page's elements: those come and go.
import { STREAMLIT } from "./streamlit.js"

{
  // An entry of the browser's history is a page, an issue or a notebook. Streamlit adds one for each address that a page writes, and
  // Back from it would change nothing, since the page keeps what is set.
  const shownIn = (/** @type {{ search: string }} */ address) => {
    const query = new URLSearchParams(address.search)
    return query.get("issue") ?? query.get("notebook")
  }
  const push = history.pushState.bind(history)
  history.pushState = (state, title, to) => {
    const next = new URL(to ?? "", location.href)
    if (next.pathname === location.pathname && shownIn(next) === shownIn(location)) {
      history.replaceState(state, title, to)
    } else push(state, title, to)
  }

  // An entry of the bar leads to its page as it begins, from a question to the map. On the page itself Streamlit would keep the query; it
  // follows where the browser goes back or forward.
  document.addEventListener("click", (event) => {
    const entry = event.target instanceof Element ? event.target.closest(STREAMLIT.entry) : null
    if (!(entry instanceof HTMLAnchorElement) || event.ctrlKey || event.metaKey || event.shiftKey) return
    if (entry.pathname === location.pathname && location.search) {
      event.preventDefault()
      event.stopPropagation()
      history.pushState({}, "", entry.pathname)
      dispatchEvent(new PopStateEvent("popstate"))
    }
    // On a narrow screen the bar is a drawer over the page, which Streamlit closes only where the browser names a phone.
    // Later: where Streamlit has closed it, there is no such button.
    setTimeout(() => {
      /** @type {HTMLElement | null} */
      const close = document.querySelector(STREAMLIT.close)
      close?.click()
    })
  }, true)

  // Where Streamlit's own script fails, as it can while parts of a page refresh on a busy machine, it leaves the page blank for good: then
  // the page is loaded again from its address, at most once in a quarter of a minute.
  const root = document.getElementById("root")
  let drawn = false
  new MutationObserver(() => {
    drawn ||= Boolean(root?.childElementCount)
    const last = Number(sessionStorage.getItem("attention-lab.blank") ?? 0)
    if (!drawn || root?.childElementCount || Date.now() - last < 15_000) return
    sessionStorage.setItem("attention-lab.blank", `${Date.now()}`)
    location.reload()
  }).observe(root ?? document.body, { childList: true })

  // Browsers have no clipboard on plain http, as in many a school's network; Streamlit's copy buttons would do nothing there.
  if (!navigator.clipboard) {
    const writeText = (/** @type {string} */ text) => {
      const area = Object.assign(document.createElement("textarea"), { value: text })
      area.style.position = "fixed" // else the page scrolls to it
      const focused = /** @type {HTMLElement | null} */ (document.activeElement)
      focused?.after(area) // a dialog keeps the focus within itself
      area.select()
      const copied = document.execCommand("copy")
      area.remove()
      focused?.focus()
      return copied ? Promise.resolve() : Promise.reject(new Error("The browser refuses to copy."))
    }
    Object.defineProperty(navigator, "clipboard", { value: { writeText } })
  }
}
