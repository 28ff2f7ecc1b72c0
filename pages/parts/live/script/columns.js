// Lines that grow: appended to as events come, thinned by lowest and highest when they get long.

const LONGEST = 500
const AFTER_THINNING = 300

/** The same rule as columns.py: both ends, and the lowest and highest in each stretch of equal width. */
function thin([x, y], points) {
  if (x.length <= points) return [x, y]
  const last = x.length - 1
  const stretches = Math.floor((points - 2) / 2)
  const width = (x[last - 1] + 1 - x[1]) / stretches
  const kept = [0]
  for (let start = 1; start < last; ) {
    const stretch = Math.floor((x[start] - x[1]) / width)
    let low = start
    let high = start
    let end = start
    for (; end < last && Math.floor((x[end] - x[1]) / width) === stretch; end++) {
      if (y[end] < y[low]) low = end
      if (y[end] > y[high]) high = end
    }
    kept.push(Math.min(low, high))
    if (low !== high) kept.push(Math.max(low, high))
    start = end
  }
  kept.push(last)
  return [kept.map((i) => x[i]), kept.map((i) => y[i])]
}

/** Append news to columns {name: [steps, values]}; steps already there are not taken twice. */
function append(columns, news) {
  for (const [name, [steps, values]] of Object.entries(news)) {
    const [x, y] = (columns[name] ??= [[], []])
    const seen = x.length ? x[x.length - 1] : -1
    steps.forEach((step, i) => {
      if (step > seen) {
        x.push(step)
        y.push(values[i])
      }
    })
    if (x.length > LONGEST) columns[name] = thin([x, y], AFTER_THINNING)
  }
}

/** The part of a column up to a step, for a recording that is played. */
function upto([x, y], step) {
  if (!x.length || x[x.length - 1] <= step) return [x, y]
  let count = x.findIndex((value) => value > step)
  return [x.slice(0, count), y.slice(0, count)]
}
