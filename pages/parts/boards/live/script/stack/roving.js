// One tab stop for many elements: arrow keys move among them.

import { ARROWS } from "../../../shell/script/dom.js"

/**
 * The box to which an arrow key leads from one box: of those in its direction the nearest, sideways counting thrice.
 *
 * @param {{x: number, y: number}[]} middles
 * @param {number} from
 * @param {[number, number]} direction
 * @returns {number} its number; `from` where there is none
 */
export function towardsArrow(middles, from, [right, down]) {
  const { x, y } = middles[from]
  let [found, least] = [from, Infinity]
  middles.forEach((other, at) => {
    const [along, across] = right ? [(other.x - x) * right, other.y - y] : [(other.y - y) * down, other.x - x]
    const distance = along + 3 * Math.abs(across)
    if (at !== from && along > 1 && distance < least) [found, least] = [at, distance]
  })
  return found
}

/**
 * Keeps one of the elements that a selector finds in `root` in the order of tabs, the one that had the focus last.
 *
 * @param {HTMLElement} root
 * @param {string} selector
 * @param {(node: HTMLElement) => void} [entered] called with the element that gets the focus
 * @returns {{refresh: () => void}} `refresh` after elements came or went
 */
export function rovingFocus(root, selector, entered = () => {}) {
  /** @type {HTMLElement | null} */
  let present = null
  const all = () =>
    /** @type {HTMLElement[]} */ ([...root.querySelectorAll(selector)]).filter((node) =>
      node.offsetParent && !node.matches(":disabled")
    )
  const nearest = (
    /** @type {EventTarget | null} */ target,
  ) => /** @type {HTMLElement | null} */ (/** @type {Element} */ (target).closest(selector))
  const hold = (/** @type {HTMLElement | null} */ node) => {
    if (present && present !== node) present.tabIndex = -1
    present = node
    if (node) node.tabIndex = 0
  }
  root.addEventListener("focusin", ({ target }) => {
    const node = nearest(target)
    if (!node) return
    hold(node)
    entered(node)
  })
  root.addEventListener("keydown", (event) => {
    const arrow = ARROWS[event.key]
    const node = nearest(event.target)
    if (!arrow || !node || event.shiftKey || event.altKey || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    const nodes = all()
    const middles = nodes.map((one) => {
      const box = one.getBoundingClientRect()
      return { x: box.x + box.width / 2, y: box.y + box.height / 2 }
    })
    nodes[towardsArrow(middles, nodes.indexOf(node), arrow)]?.focus()
  })
  const refresh = () => {
    hold(present && root.contains(present) && present.matches(selector) ? present : root.querySelector(selector))
  }
  return { refresh }
}
