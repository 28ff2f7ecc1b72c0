// The picture as one SVG: the lines as they are, and everything around them as rectangles, images and letters.

import { drawing } from "../../../shell/script/dom.js"

const ROOM = 12 // around the picture, in pixels
const HEADING = 26

/**
 * The picture as the text of an SVG file.
 *
 * @param {HTMLElement} root what the places of all parts are told from
 * @param {HTMLElement[]} drawn the elements that are drawn
 * @param {{surface: string, ink: string, font: string}} theme
 * @param {string} heading
 * @returns {{text: string, width: number, height: number}}
 */
export function pictureAsSvg(root, drawn, theme, heading) {
  const boxes = drawn.map((node) => node.getBoundingClientRect())
  const [left, top] = [
    root.getBoundingClientRect().left - ROOM,
    Math.min(...boxes.map((box) => box.top)) - ROOM - HEADING,
  ]
  const width = Math.ceil(root.clientWidth + 2 * ROOM)
  const height = Math.ceil(Math.max(...boxes.map((box) => box.bottom)) - top + ROOM)
  const svg = drawing("svg", {
    xmlns: "http://www.w3.org/2000/svg",
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    "font-family": theme.font,
  })
  svg.append(
    drawing("rect", { width, height, fill: theme.surface }),
    drawing("text", { x: ROOM, y: ROOM + 12, "font-size": 13, fill: theme.ink }, heading),
    ...drawn.flatMap((node) => [...shapesOf(node, left, top)])
  )
  return { text: new XMLSerializer().serializeToString(svg), width, height }
}

/** An element and all within it as shapes. */
function* shapesOf(node, left, top) {
  const style = getComputedStyle(node)
  const box = node.getBoundingClientRect()
  if (style.display === "none" || style.visibility === "hidden" || (!box.width && !box.height)) return
  const place = { x: box.x - left, y: box.y - top, width: box.width, height: box.height }
  if (node.tagName === "svg") return yield linesOf(node, place)
  if (node.tagName === "CANVAS")
    return yield drawing("image", {
      ...place,
      href: node.toDataURL(),
      preserveAspectRatio: "none",
      style: "image-rendering:pixelated",
    })
  const filled = !/, 0\)$|transparent/.test(style.backgroundColor)
  const edge = parseFloat(style.borderTopWidth)
  if (filled || edge)
    yield drawing("rect", {
      ...place,
      rx: 3,
      fill: filled ? style.backgroundColor : "none",
      stroke: edge ? style.borderTopColor : "none",
      opacity: style.opacity,
    })
  const text = [...node.childNodes]
    .filter(({ nodeType }) => nodeType === 3)
    .map((one) => one.textContent)
    .join("")
    .trim()
  if (text)
    yield drawing(
      "text",
      {
        x: place.x + place.width / 2,
        y: place.y + place.height / 2,
        "text-anchor": "middle",
        "dominant-baseline": "central",
        "font-size": style.fontSize,
        "font-weight": style.fontWeight,
        fill: style.color,
        opacity: style.opacity,
      },
      text
    )
  for (const child of node.children) yield* shapesOf(child, left, top)
}

/** A drawing with the colours that a style sheet gave it. */
function linesOf(node, { x, y, width, height }) {
  const copy = node.cloneNode(true)
  const [from, to] = [node, copy].map((root) => [...root.querySelectorAll("path, circle")])
  from.forEach((line, at) => {
    const style = getComputedStyle(line)
    for (const name of ["fill", "stroke", "stroke-dasharray", "stroke-width", "stroke-opacity", "opacity"])
      to[at].setAttribute(name, style.getPropertyValue(name))
  })
  for (const [name, value] of Object.entries({ x, y, width, height })) copy.setAttribute(name, value)
  if (node.viewBox.baseVal?.width) copy.setAttribute("viewBox", node.getAttribute("viewBox"))
  return copy
}
