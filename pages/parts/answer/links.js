// A plain click on a link to an issue opens it in this session; as it is, the link would open another tab and another session.
// Streamlit gives every link in Markdown that leaves the page its own tab, so the marks show only once this script listens
// (answer.css): who can click one stays here.

const ISSUES = /\/issues$/

/** The issue that a plain click asks for, empty for all of them; with a key held down, or another button, a link stays a link. */
function issueOf(event) {
  if (event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return null
  const link = event.target.closest?.(".st-key-answer a")
  if (!link || link.origin !== location.origin || !ISSUES.test(link.pathname)) return null
  return new URLSearchParams(link.search).get("issue") ?? ""
}

export default function ({ setTriggerValue }) {
  const follow = (event) => {
    const issue = issueOf(event)
    if (issue === null) return
    event.preventDefault()
    setTriggerValue("issue", issue)
  }
  document.addEventListener("click", follow)
  document.documentElement.dataset.answerListens = ""
  return () => {
    document.removeEventListener("click", follow)
    delete document.documentElement.dataset.answerListens
  }
}
