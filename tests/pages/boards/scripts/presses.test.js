import assert from "node:assert/strict"
import { test } from "node:test"
import { newPresses } from "../../../../pages/parts/boards/base/script/presses.js"

/** @returns {ReturnType<typeof newPresses<{key: string}>>} */
const keys = () => newPresses()

test("a message repeats the presses that the page has not confirmed, in order", () => {
  const presses = keys()
  presses.add({ key: "next" })
  const message = presses.add({ key: "3" })
  assert.deepEqual(message.map(({ key }) => key), ["next", "3"])
  assert.ok(message[0].number < message[1].number)
  assert.equal(presses.confirm(message[0].number), true)
  assert.deepEqual(presses.add({ key: "back" }).map(({ key }) => key), ["3", "back"])
  assert.deepEqual(presses.again().map(({ key }) => key), ["3", "back"])
})

test("numbers grow where a script begins anew under a clock that was set back", () => {
  const presses = keys()
  const received = Date.now() + 3_600_000
  assert.equal(presses.confirm(received), false)
  assert.ok(presses.add({ key: "next" })[0].number > received)
})
