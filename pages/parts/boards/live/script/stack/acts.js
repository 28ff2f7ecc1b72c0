// What the parts of the picture ask of the page.

/** @import { Act, LiveBoard, NumberedAct } from "../types.d.ts" */

/**
 * Gives a function that tells the page what a part asks for. While the page draws, the browser keeps only its latest
 * message: so each repeats all that the page has not heard yet, numbered, and the page does each once.
 *
 * @param {Pick<LiveBoard, "data" | "trigger">} board
 * @returns {(does: Act) => void}
 */
export function actsOf(board) {
  /** @type {NumberedAct[]} */
  let unheard = []
  let last = 0
  return (does) => {
    last = Math.max(last + 1, Date.now()) // a board that is mounted anew goes on counting
    const heard = board.data.model?.heard ?? 0
    unheard = [...unheard.filter(({ number }) => number > heard), { ...does, number: last }]
    board.trigger("act", unheard)
  }
}
