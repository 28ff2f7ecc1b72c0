// A tab below the fold that is opened comes into sight.

/** How many openings have been scrolled to. */
let seen = 0

/** @param {import("../boards/base/script/types.d.ts").Component} component */
export default function ({ data: openings }) {
  if (openings > seen) document.querySelector(".st-key-questions-tabs")?.scrollIntoView()
  seen = openings
}
