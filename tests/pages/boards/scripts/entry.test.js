import assert from "node:assert/strict"
import { test } from "node:test"
import mount from "../../../../pages/parts/boards/base/script/entry.js"

/** @import { Component } from "../../../../pages/parts/boards/base/script/types.d.ts" */

/** Two calls of the entry for one element, each of which waits for its script; what is drawn and ended, in order. */
function twoCalls() {
  const gates = [0, 1].map(() => Promise.withResolvers())
  /** @type {string[]} */
  const drawn = []
  Object.assign(globalThis, {
    document: { querySelector: () => null, baseURI: "http://127.0.0.1/" },
    gates,
    drawn,
  })
  const code = (/** @type {number} */ call) =>
    `await gates[${call}].promise; export const draw = () => { drawn.push("${call}"); return () => drawn.push("end ${call}") } // ${Math.random()}`
  const scripts = [0, 1].map((call) => `data:text/javascript,${encodeURIComponent(code(call))}`)
  const parentElement = {}
  const ends = scripts.map((script) =>
    mount(
      /** @type {Component} */ (/** @type {unknown} */ ({
        parentElement,
        data: [{ script }],
      })),
    )
  )
  const arrives = async (/** @type {number} */ call) => {
    gates[call].resolve(null)
    await import(scripts[call])
    await new Promise((go) => setTimeout(go)) // whoever else waits for it has it, too
  }
  return { drawn, ends, arrives }
}

for (const order of [[0, 1], [1, 0]]) {
  test(`of two calls whose scripts come in the order ${order}, the later one draws, and alone`, async () => {
    const { drawn, ends, arrives } = twoCalls()
    for (const call of order) await arrives(call)
    assert.deepEqual(drawn, ["1"])
    ends[1]()
    assert.deepEqual(drawn, ["1", "end 1"])
  })
}

test("a call that was ended before its script came draws nothing", async () => {
  const { drawn, ends, arrives } = twoCalls()
  ends[1]()
  for (const call of [1, 0]) await arrives(call)
  assert.deepEqual(drawn, [])
})
