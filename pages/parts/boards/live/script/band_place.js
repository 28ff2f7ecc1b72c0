// The component that is a band.

import { bands, bandsChanged } from "./band.js"

/** @import { Component } from "../../shell/script/types.d.ts" */

/** @param {Component} component */
export default function ({ data: [name], parentElement }) {
  bands.set(name, /** @type {HTMLElement} */ (parentElement.querySelector(".band")))
  bandsChanged.forEach((place) => place())
  return () => bands.delete(name)
}
