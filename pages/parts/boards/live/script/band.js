// A band: a place elsewhere on the page, above its columns, in which a board puts some of its panels.

/** @import { Component } from "../../base/script/types.d.ts" */

/**
 * The bands that are drawn, by name, and the functions to call when that changes. All boards and bands of the document
 * share them.
 */
export const { bands, bandsChanged } = (globalThis.attentionLabBands ??= { bands: new Map(), bandsChanged: new Set() })

/** The component that is a band. */
export function holdBand(/** @type {Component} */ { data: [name], parentElement }) {
  bands.set(name, /** @type {HTMLElement} */ (parentElement.querySelector(".band")))
  bandsChanged.forEach((place) => place())
  return () => bands.delete(name)
}
