// A column with fewer points, as JSON: of the column and the number of points that are given.

import process from "node:process"
import { thin } from "../../../../pages/parts/boards/live/script/data.js"

const [column, points] = JSON.parse(process.argv[2])
console.log(JSON.stringify(thin(column, points)))
