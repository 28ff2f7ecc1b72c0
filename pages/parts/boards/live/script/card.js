// A panel of a run, and the switch that some of them have.

import { el, termLink } from "../../shell/script/dom.js"
import { newPanel } from "../../shell/script/panel.js"

/** A panel with its glossary term. `concerns` tells whether a message of the run changes what it shows. */
export function runPanel(board, name, title, { plotted = true, waiting = "waiting for the first step" } = {}) {
  const panel = newPanel({ id: name, kind: name, title, tag: "h3", level: board.data.level, waiting, plotted })
  panel.heading.replaceChildren(`${title} `, termLink(board.data.terms[name], title))
  return Object.assign(panel, { waiting, concerns: (news) => Boolean(news.snapshots?.length) })
}

/** Buttons of which exactly one is pressed. */
export function choice(label, options, chosen, onChoose) {
  const group = el("div", { class: "choice", role: "group", "aria-label": label })
  const press = (name) =>
    [...group.children].forEach((button) => button.setAttribute("aria-pressed", button.dataset.name === name))
  for (const [name, text] of Object.entries(options)) {
    group.append(
      el("button", { type: "button", "data-name": name, onclick: () => (press(name), onChoose(name)) }, text),
    )
  }
  press(chosen)
  return group
}
