// A tab below the fold that is opened on a page comes into sight; what was open before the page came stays where it is.

/** @type {[string, string | null] | undefined} The issue and its open tab. */
let before

/** @param {import("../boards/shell/script/types.d.ts").Component} component */
export default function ({ data }) {
  const [issue, tab] = data
  const opened = before?.[0] === issue && before?.[1] !== tab && tab
  before = data
  if (opened) document.querySelector(".st-key-issues-tabs")?.scrollIntoView()
}
