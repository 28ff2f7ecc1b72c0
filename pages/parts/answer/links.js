// A link to an issue is a place on this page (`#issue=heads`), so that no click leaves the tab. It opens the issue in
// this session.

const PLACE = "#issue="

/**
 * The link to an issue that an event is about, if any.
 *
 * @param {Event} event
 * @returns {HTMLAnchorElement | null}
 */
function linkOf({ target }) {
  const selector = `.st-key-answer :is(a[href^="${PLACE}"], a[data-issue])`
  return target instanceof Element ? target.closest(selector) : null
}

/** Its issue, empty for all of them. */
const issueOf = (/** @type {HTMLAnchorElement} */ link) =>
  link.dataset.issue ?? (link.getAttribute("href") ?? "").slice(PLACE.length)

/**
 * Who points at a link, or comes to it by the keyboard, may open it in another tab, or copy it: then it has the issue's
 * own address.
 */
function nameAddress(/** @type {Event} */ event) {
  const link = linkOf(event)
  if (!link) return
  link.dataset.issue = issueOf(link)
  link.setAttribute("href", link.dataset.issue ? `issues?issue=${link.dataset.issue}` : "issues")
}

/** @param {import("../boards/base/script/types.d.ts").Component} component */
export default function ({ setTriggerValue }) {
  const follow = (/** @type {MouseEvent} */ event) => {
    if (event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return // a link stays a link
    const link = linkOf(event)
    if (!link) return
    event.preventDefault()
    setTriggerValue("issue", issueOf(link))
  }
  const heard = new AbortController()
  document.addEventListener("click", follow, heard)
  document.addEventListener("pointerover", nameAddress, heard)
  document.addEventListener("focusin", nameAddress, heard)
  if (location.hash.startsWith(PLACE)) {
    // Followed before this script was there. The way back must not lead there again.
    const issue = location.hash.slice(PLACE.length)
    history.replaceState(history.state, "", location.pathname + location.search)
    setTriggerValue("issue", issue)
  }
  return () => heard.abort()
}
