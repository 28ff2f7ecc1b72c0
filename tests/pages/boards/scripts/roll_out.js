// How much each position of the first layer has in the last one of the last layer, as JSON: of a model with the grid of
// weights that is given.

import process from "node:process"
import { flowTo, weightsOf } from "../../../../pages/parts/boards/live/script/stack/weights.js"

const grid = JSON.parse(process.argv[2])
const [layers, , positions] = grid.shape
const places = Array.from({ length: layers }, (_, layer) => layer)
const self = weightsOf({ patterns: { self: grid } }, "self", places)
const { arcs, streams } = flowTo({ layers, self, skips: () => true }, { kind: "self", position: positions - 1 })
const reached = Array(positions).fill(0)
for (const { layer, key, share } of arcs) if (layer === 0) reached[key] += share
for (const { layer, position, share } of streams) if (layer === 0) reached[position] += share
console.log(JSON.stringify(reached))
