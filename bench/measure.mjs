/**
 * Measuring: many short turns in one process, the best of each, and rows of a table with ratios. The
 * best turn is the one that nothing else on the machine disturbed; medians follow the load instead.
 */

const TURNS = 60
const TURN_MS = 20
const WARM_MS = 150

/** Calls per second of each function, all in turns, so that a busy moment hits them alike. */
export function bestRates(functions) {
  const rates = Object.fromEntries(Object.keys(functions).map((name) => [name, 0]))
  for (const work of Object.values(functions)) rateOf(work, WARM_MS)
  for (let turn = 0; turn < TURNS; turn++) {
    for (const [name, work] of Object.entries(functions))
      rates[name] = Math.max(rates[name], rateOf(work, TURN_MS))
  }
  return rates
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
export async function bestRatesOfPromises(functions) {
  const rates = Object.fromEntries(Object.keys(functions).map((name) => [name, 0]))
  for (const work of Object.values(functions)) await rateOfPromises(work, WARM_MS)
  for (let turn = 0; turn < TURNS; turn++) {
    for (const [name, work] of Object.entries(functions)) {
      rates[name] = Math.max(rates[name], await rateOfPromises(work, TURN_MS))
    }
  }
  return rates
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

/** A line for what could not be measured here, and why. */
export function notRun(what, why) {
  return {
    what,
    ours: why,
    oursValue: null,
    theirs: '',
    theirsValue: null,
    ratio: null,
    goal: null,
  }
}
