// The picture as one SVG: the lines as they are, and everything around them as rectangles, images and letters.

import { drawing } from "../../../base/script/dom.js"

/** @import { Picture, Theme } from "../../../base/script/types.d.ts" */

const AROUND = 12 // around the picture, in pixels
const LETTER = { size: 13, width: 6.4, line: 17 } // of the heading, in pixels

/**
 * The picture as the text of an SVG file.
 *
 * @param {HTMLElement} root what the places of all parts are told from
 * @param {HTMLElement[]} drawn the elements that are drawn
 * @param {Pick<Theme, "surface" | "ink" | "font">} theme
 * @param {string} heading
 * @returns {Picture}
 */
export function pictureAsSvg(root, drawn, theme, heading) {
  const boxes = drawn.map((node) => node.getBoundingClientRect())
  const width = Math.ceil(root.clientWidth + 2 * AROUND)
  const lines = linesOfText(heading, root.clientWidth / LETTER.width)
  const left = root.getBoundingClientRect().left - AROUND
  const top = Math.min(...boxes.map((box) => box.top)) - 1.5 * AROUND - lines.length * LETTER.line
  const height = Math.ceil(Math.max(...boxes.map((box) => box.bottom)) - top + AROUND)
  const size = { viewBox: `0 0 ${width} ${height}`, width, height }
  const svg = drawing("svg", { xmlns: "http://www.w3.org/2000/svg", ...size, "font-family": theme.font })
  const written = lines.map((line, at) =>
    drawing(
      "text",
      { x: AROUND, y: AROUND + at * LETTER.line + LETTER.size, "font-size": LETTER.size, fill: theme.ink },
      line,
    )
  )
  const shapes = drawn.flatMap((node) => [...shapesOf(node, left, top)])
  svg.append(drawing("rect", { width, height, fill: theme.surface }), ...written, ...shapes)
  return { text: new XMLSerializer().serializeToString(svg), width, height }
}

/** A text in lines of at most so many letters. */
function linesOfText(/** @type {string} */ text, /** @type {number} */ most) {
  const lines = [""]
  for (const word of text.split(/\s+/)) {
    const longer = `${lines[lines.length - 1]} ${word}`.trim()
    if (longer.length <= most) lines[lines.length - 1] = longer
    else lines.push(word)
  }
  return lines
}

/**
 * An element and all within it as shapes.
 *
 * @param {Element} node
 * @param {number} left of the picture
 * @param {number} top of the picture
 * @returns {Generator<SVGElement>}
 */
function* shapesOf(node, left, top) {
  const style = getComputedStyle(node)
  const box = node.getBoundingClientRect()
  if (style.display === "none" || style.visibility === "hidden" || (!box.width && !box.height)) return
  const frame = { x: box.x - left, y: box.y - top, width: box.width, height: box.height }
  if (node instanceof SVGSVGElement) return yield linesOf(node, frame)
  if (node instanceof HTMLCanvasElement) {
    return yield drawing("image", {
      ...frame,
      href: node.toDataURL(),
      preserveAspectRatio: "none",
      style: "image-rendering:pixelated",
    })
  }
  const filled = !/, 0\)$|transparent/.test(style.backgroundColor)
  const edge = parseFloat(style.borderTopWidth)
  if (filled || edge) {
    yield drawing("rect", {
      ...frame,
      rx: 3,
      fill: filled ? style.backgroundColor : "none",
      stroke: edge ? style.borderTopColor : "none",
      opacity: style.opacity,
    })
  }
  for (const words of node.childNodes) {
    if (words instanceof Text && words.data.trim()) yield lettersOf(words, style, left, top)
  }
  for (const child of node.children) yield* shapesOf(child, left, top)
}

/**
 * The letters of a node of text, where they stand.
 *
 * @param {Text} words
 * @param {CSSStyleDeclaration} style
 * @param {number} left of the picture
 * @param {number} top of the picture
 */
function lettersOf(words, style, left, top) {
  const range = document.createRange()
  range.selectNodeContents(words)
  const { x, y, height } = range.getBoundingClientRect()
  const frame = { x: x - left, y: y - top + height / 2, "dominant-baseline": "central" }
  const font = {
    "font-size": style.fontSize,
    "font-weight": style.fontWeight,
    fill: style.color,
    opacity: style.opacity,
  }
  return drawing("text", { ...frame, ...font }, words.data)
}

/**
 * A drawing with the colours that a style sheet gave it.
 *
 * @param {SVGSVGElement} node
 * @param {{x: number, y: number, width: number, height: number}} frame
 */
function linesOf(node, { x, y, width, height }) {
  const copy = /** @type {SVGSVGElement} */ (node.cloneNode(true))
  const [from, to] = [node, copy].map((root) => [...root.querySelectorAll("path, circle")])
  from.forEach((line, at) => {
    const style = getComputedStyle(line)
    for (const name of ["fill", "stroke", "stroke-dasharray", "stroke-width", "stroke-opacity", "opacity"]) {
      to[at].setAttribute(name, style.getPropertyValue(name))
    }
  })
  for (const [name, value] of Object.entries({ x, y, width, height })) copy.setAttribute(name, `${value}`)
  return copy
}
