// Top panels: a place elsewhere on the page, above its columns, in which a board puts some of its panels.

/** @import { Component } from "../../base/script/types.d.ts" */

/**
 * The places that are drawn, by name, and the functions to call when that changes. All boards and places of the document
 * share them.
 */
export const { topPanels, topPanelsChanged } =
  (globalThis.attentionLabTopPanels ??= { topPanels: new Map(), topPanelsChanged: new Set() })

/** The component that is such a place. */
export function holdTopPanels(/** @type {Component} */ { data: [name], parentElement }) {
  topPanels.set(name, /** @type {HTMLElement} */ (parentElement.querySelector(".top-panels")))
  topPanelsChanged.forEach((changed) => changed())
  return () => topPanels.delete(name)
}
