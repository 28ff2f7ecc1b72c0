// What Streamlit's links lack: a link to a term opens the drawer in place, and the next screen of a page begins at its title.

import { STREAMLIT } from "./streamlit.js"

const GLOSSARY = /\/glossary$/
/** The screen that is shown, by the name that the page gives it. */
let screen = ""

/**
 * The term that a plain click on a link asks for; with a key held down, or with the middle button, a link stays a link.
 */
function termOf(/** @type {MouseEvent} */ event) {
  if (event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return null
  const link = event.composedPath().find((node) => node instanceof HTMLAnchorElement)
  if (!link || link.origin !== location.origin || !GLOSSARY.test(link.pathname)) return null
  return new URLSearchParams(link.search).get("term")
}

/** Streamlit's tables that scroll sideways can be reached by keyboard. */
function reachTables() {
  for (const box of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(STREAMLIT.tables))) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0
    else box.removeAttribute("tabindex")
  }
}

/** @param {import("../boards/base/script/types.d.ts").Component} component */
export default function ({ data, setTriggerValue }) {
  if (screen !== data.screen) document.querySelector(STREAMLIT.main)?.scrollTo(0, 0)
  screen = data.screen
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let soon
  const later = () => {
    clearTimeout(soon)
    soon = setTimeout(reachTables, 300)
  }
  const tables = new MutationObserver(later)
  const main = document.querySelector(STREAMLIT.main)
  if (main) tables.observe(main, { childList: true, subtree: true })
  addEventListener("resize", later)
  const follow = (/** @type {MouseEvent} */ event) => {
    const term = termOf(event)
    if (term === null) return
    event.preventDefault()
    event.stopPropagation()
    setTriggerValue("term", term)
  }
  document.addEventListener("click", follow, true)
  return () => {
    tables.disconnect()
    removeEventListener("resize", later)
    document.removeEventListener("click", follow, true)
  }
}
