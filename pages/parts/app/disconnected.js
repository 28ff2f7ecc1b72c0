// What a page shows while its server does not answer: a line of the app's own, and not Streamlit's dialog, which speaks
// of a terminal.

import { STREAMLIT } from "./streamlit.js"

const WAITING = ["PINGING_SERVER", "CONNECTING"]
const WORDS = "This page cannot reach the server. It continues as soon as the server answers."

/** @param {import("../boards/base/script/types.d.ts").Component} component */
export default function ({ setTriggerValue }) {
  const app = /** @type {HTMLElement} */ (document.querySelector(STREAMLIT.app))
  const line = Object.assign(document.createElement("p"), {
    className: "frame-disconnected",
    role: "alert",
    textContent: WORDS,
  })
  let requested = false
  const check = () => {
    if (WAITING.includes(app.getAttribute(STREAMLIT.connection) ?? "")) {
      requested = false
      if (!line.isConnected) app.append(line)
      /** @type {HTMLElement | null} */
      const close = document.querySelector(STREAMLIT.lost)
      close?.click()
    } else if (line.isConnected && !requested) {
      requested = true
      // A server that was started anew knows no button of this page until the script has run once.
      setTriggerValue("back", true)
    } else if (app.getAttribute(STREAMLIT.script) === "notRunning") line.remove()
  }
  const watched = new MutationObserver(check)
  watched.observe(app, { attributeFilter: [STREAMLIT.connection, STREAMLIT.script] })
  watched.observe(document.body, { childList: true }) // dialogs are put there
  return () => {
    watched.disconnect()
    line.remove()
  }
}
