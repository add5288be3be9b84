/**
 * `npm run hosts [NAME…]`: installs the coding agents of tests/agents by their lock files into .cache,
 * without their install scripts, and runs them against a stand-in for their models. Without names all
 * eight run.
 */
import { join } from 'node:path'
import { installAgents } from './agents.mjs'
import { ROOT, run, stop } from './setup.mjs'

const names = process.argv.slice(2)
// writ takes a process with the name of an agent among its words for that agent: no person is below it.
process.title = 'hosts'
if (!installAgents(names)) stop('the coding agents could not be installed')
const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs')
const env = { ...process.env, WRIT_AGENTS: names.join(',') }
const { status } = run(process.execPath, [vitest, 'run', '--project', 'agents'], { env })
process.exit(status ?? 1)
