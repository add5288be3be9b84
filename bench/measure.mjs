/** Measuring: interleaved repeats in one process, medians, and rows of a table with ratios. */

const REPEATS = 5
const WARM_MS = 150
const MEASURE_MS = 300

/** Calls per second of each function, all in turns, so that a busy moment hits them alike. */
export function medianRates(functions) {
  const rates = Object.fromEntries(Object.keys(functions).map((name) => [name, []]))
  for (const work of Object.values(functions)) rateOf(work, WARM_MS)
  for (let repeat = 0; repeat < REPEATS; repeat++) {
    for (const [name, work] of Object.entries(functions)) rates[name].push(rateOf(work, MEASURE_MS))
  }
  return Object.fromEntries(
    Object.entries(rates).map(([name, list]) => [name, list.sort((a, b) => a - b)[REPEATS >> 1]]),
  )
}

function rateOf(work, forMs) {
  let calls = 0
  const started = performance.now()
  let now = started
  while (now - started < forMs) {
    for (let index = 0; index < 64; index++) work()
    calls += 64
    now = performance.now()
  }
  return (calls / (now - started)) * 1000
}

/** The same for functions that answer with a promise: each call waits for the one before. */
export async function medianRatesOfPromises(functions) {
  const rates = Object.fromEntries(Object.keys(functions).map((name) => [name, []]))
  for (const work of Object.values(functions)) await rateOfPromises(work, WARM_MS)
  for (let repeat = 0; repeat < REPEATS; repeat++) {
    for (const [name, work] of Object.entries(functions))
      rates[name].push(await rateOfPromises(work, MEASURE_MS))
  }
  return Object.fromEntries(
    Object.entries(rates).map(([name, list]) => [name, list.sort((a, b) => a - b)[REPEATS >> 1]]),
  )
}

async function rateOfPromises(work, forMs) {
  let calls = 0
  const started = performance.now()
  let now = started
  while (now - started < forMs) {
    await work()
    calls++
    now = performance.now()
  }
  return (calls / (now - started)) * 1000
}

/** One line of the table: ours, theirs (null: not run), the ratio, and the ratio that is the goal. */
export function row(what, ours, oursValue, theirs, theirsValue, goal) {
  if (theirsValue === null)
    return { what, ours, oursValue, theirs, theirsValue, ratio: null, goal: null }
  return { what, ours, oursValue, theirs, theirsValue, ratio: oursValue / theirsValue, goal }
}
