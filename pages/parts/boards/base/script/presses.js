// Presses of keys and of parts of a picture, kept until the page has received them.

/**
 * Presses that are told to the page. While the page draws, the browser keeps only its latest message: so each message
 * repeats, in order, all presses that the page has not confirmed, and the page takes each once, by its number.
 *
 * @template {object} Press
 */
export function newPresses() {
  /** @type {(Press & {number: number})[]} */
  let pending = []
  let last = 0
  return {
    /** The message that tells one more press. */
    add(/** @type {Press} */ press) {
      last = Math.max(last + 1, Date.now()) // a script that begins anew goes on counting
      pending = [...pending, { ...press, number: last }]
      return pending
    },
    /** The page has received all presses up to a number; returns whether others are on their way. */
    confirm(/** @type {number} */ upto) {
      last = Math.max(last, upto) // the clock may have been set back
      pending = pending.filter(({ number }) => number > upto)
      return pending.length > 0
    },
    /** The message that tells them once more: one that came while the page changed to another may be lost. */
    again: () => pending,
  }
}
