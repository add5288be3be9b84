/** Prints how many bytes a compiled rule takes: the process before and after rules are established. */
import { establish } from '../dist/constitution/index.js'
import { actionsFor, makeRules, rulesetsOf } from './constitution-rules.mjs'

const count = Number(process.argv[2])

/** A first constitution, so that what every process allocates once is not measured. */
const kept = [constitutionOf(10)]
const before = used()
kept.push(constitutionOf(count))
const after = used()
const bytesPerRule = (what) => Math.max(0, Math.round((after[what] - before[what]) / count))
process.stdout.write(
  JSON.stringify({ heap: bytesPerRule('heapUsed'), resident: bytesPerRule('rss') }),
)
if (kept.length !== 2) process.exit(1)

/** The documents themselves are let go: what stays is what the kernel keeps. */
function constitutionOf(rules) {
  const sources = rulesetsOf(makeRules(rules)).map((document) => ({ document }))
  return establish(sources, { action_codes: actionsFor(rules) })
}

function used() {
  for (let round = 0; round < 5; round++) globalThis.gc()
  return process.memoryUsage()
}
