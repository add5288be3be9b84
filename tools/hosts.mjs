/**
 * `npm run hosts [NAME…]`: installs the coding agents of tests/agents by their lock files into
 * .cache/agents, without their install scripts, and runs them against a stand-in for their models.
 * `npm run hosts claude-code codex` is what continuous integration runs; without names all eight run.
 */
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT, run, stop } from './setup.mjs'

/** Each with a package.json of its own: npm would go up to the checkout without one. */
const PLACES = { agents: 'tests/agents', 'agents-opencode': 'tests/agents/opencode' }

function install(name, from) {
  const to = join(ROOT, '.cache', name)
  const lock = join(ROOT, from, 'package-lock.json')
  const done = join(to, 'package-lock.json')
  const isThere = existsSync(done) && existsSync(join(to, 'node_modules'))
  if (isThere && readFileSync(done, 'utf8') === readFileSync(lock, 'utf8')) return
  mkdirSync(to, { recursive: true })
  for (const file of ['package.json', 'package-lock.json']) {
    copyFileSync(join(ROOT, from, file), join(to, file))
  }
  copyFileSync(join(ROOT, 'tests/agents/.npmrc'), join(to, '.npmrc'))
  const words = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  if (run('npm', words, { cwd: to }).status !== 0) stop(`${from} could not be installed`)
}

for (const [name, from] of Object.entries(PLACES)) install(name, from)
const names = process.argv.slice(2)
const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs')
const env = { ...process.env, WRIT_AGENTS: names.join(',') }
const { status } = run(process.execPath, [vitest, 'run', '--project', 'agents'], { env })
process.exit(status ?? 1)
