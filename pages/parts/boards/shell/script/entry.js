// The component's entry, which Streamlit sends again with each message. It loads the board's own script from the app: that one is
// long, and the browser keeps it.

/** The app's base address on any page and behind any proxy prefix: that of Streamlit's own scripts. */
function appAddress() {
  const script = document.querySelector('script[src*="static/js/"]')
  return script ? new URL("../../", script.src).href : new URL("./", document.baseURI).href
}

export default function (component) {
  let left = false
  let end = () => {}
  import(new URL(component.data[0].script, appAddress()).href).then(
    ({ draw }) => left || (end = draw(component)),
    () => {
      component.parentElement.querySelector(".board").textContent = "What stands here could not be loaded. Reload the page."
    },
  )
  return () => {
    left = true
    end()
  }
}
