// The component's entry, which Streamlit sends again with each message. It loads the board's own script from the app:
// that one is long, and the browser keeps it.

/** @import { Component } from "./types.d.ts" */

/** The app's base address on any page and behind any proxy prefix: that of Streamlit's own scripts. */
function appAddress() {
  const script = /** @type {HTMLScriptElement} */ (document.querySelector('script[src*="static/js/"]'))
  return script ? new URL("../../", script.src).href : new URL("./", document.baseURI).href
}

/** @param {Component} component */
export default function (component) {
  const { parentElement } = component
  // The browser may answer two imports of one script in either order, and Streamlit does not always end the earlier
  // call: the newest data of an element are shown.
  parentElement.newest = component
  let end = () => {}
  import(new URL(component.data[0].script, appAddress()).href).then(
    ({ draw }) => parentElement.newest === component && (end = draw(component)),
    () => {
      const board = parentElement.querySelector(".board")
      if (board) board.textContent = "This part could not be loaded. Reload the page."
    },
  )
  return () => {
    if (parentElement.newest === component) parentElement.newest = null
    end()
  }
}
