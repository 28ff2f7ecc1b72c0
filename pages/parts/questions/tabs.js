// A tab below the fold that is opened comes into sight.

/** How many openings have been scrolled to. */
let scrolled = 0

/** @param {import("../boards/base/script/types.d.ts").Component} component */
export default function ({ data: openings }) {
  if (openings > scrolled) document.querySelector(".st-key-questions-tabs")?.scrollIntoView()
  scrolled = openings
}
