// A plain click on a link to an issue opens it in this session; as it is, the link would open another tab and another session.

const ISSUES = /\/issues$/

/** The issue that a plain click asks for, empty for all of them; with a key held down, or another button, a link stays a link. */
function issueOf(event) {
  if (event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return null
  const link = event.target.closest("a")
  if (!link || link.origin !== location.origin || !ISSUES.test(link.pathname)) return null
  return new URLSearchParams(link.search).get("issue") ?? ""
}

export default function ({ setTriggerValue }) {
  const answer = document.querySelector(".st-key-answer")
  const follow = (event) => {
    const issue = issueOf(event)
    if (issue === null) return
    event.preventDefault()
    setTriggerValue("issue", issue)
  }
  answer.addEventListener("click", follow)
  return () => answer.removeEventListener("click", follow)
}
