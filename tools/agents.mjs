/** Installs the coding agents of tests/agents by their lock files into .cache, without install scripts. */
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT, run } from './setup.mjs'

/** Each with a package.json of its own: npm would go up to the checkout without one. */
const PLACES = {
  'agents-first': 'tests/agents/first',
  agents: 'tests/agents',
  'agents-opencode': 'tests/agents/opencode',
}

/** What `npm test` starts; continuous integration covers these. */
export const FIRST_AGENTS = ['claude-code', 'codex']

/** Returns whether the agents of these names are there; all of them without a name. */
export function installAgents(names) {
  const isFirst = names.length > 0 && names.every((name) => FIRST_AGENTS.includes(name))
  const wanted = isFirst ? ['agents-first'] : Object.keys(PLACES)
  return wanted.every((name) => install(name, PLACES[name]))
}

/** A session has a `/tmp` of its own: agents of a checkout below it would not be seen inside. */
const AGENTS_PLACE = /^\/(?:var\/)?tmp\//.test(ROOT)
  ? join('/opt', `writ-agents${ROOT.replaceAll('/', '-')}`)
  : join(ROOT, '.cache')
process.env.WRIT_AGENTS_PLACE = AGENTS_PLACE

function install(name, from) {
  const to = join(AGENTS_PLACE, name)
  const lock = join(ROOT, from, 'package-lock.json')
  const done = join(to, 'package-lock.json')
  const isThere = existsSync(done) && existsSync(join(to, 'node_modules'))
  if (isThere && readFileSync(done, 'utf8') === readFileSync(lock, 'utf8')) return true
  mkdirSync(to, { recursive: true })
  for (const file of ['package.json', 'package-lock.json']) {
    copyFileSync(join(ROOT, from, file), join(to, file))
  }
  copyFileSync(join(ROOT, 'tests/agents/.npmrc'), join(to, '.npmrc'))
  // Not `npm ci`: it wants the binaries of every platform in the lock, and some registries have only
  // those of their own. `--no-save` keeps to the locked versions and writes nothing back.
  const words = ['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund']
  return run('npm', [...words, '--loglevel=error'], { cwd: to }).status === 0
}
