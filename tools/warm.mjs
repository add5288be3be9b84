/**
 * Runs a built script as people do, in a home of its own, and keeps the code that V8 compiled
 * meanwhile, so that the next start need not compile it: `node tools/warm.mjs DIST SCRIPT`.
 *
 * Where the machine cannot rehearse, fewer functions run, and fewer are kept.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from './setup.mjs'

const [, , directory = join(ROOT, 'dist'), name = 'program'] = process.argv
const BUILT = join(directory, 'cli')

const HOME = ['init', '--no-pass']
/** The command that people wait for most. All that is kept is read at every start, so others cost time. */
const CALLS = [
  ['exec', '--', 'true'],
  ['exec', '--write', 'made.txt', '--', 'touch', 'made.txt'],
]
const SESSION_CALLS = [
  ['run', '--', 'true'],
  ['run', '--', 'touch', 'made.txt'],
  ['session', 'settle'],
]

/** An event is read from standard input: without one the answer is a refusal, by the same code. */
const HOOK_CALLS = [['hook', 'event', '--wrap', 'claude-code']]
const CALLS_OF = { run: SESSION_CALLS, hook: HOOK_CALLS }

const place = mkdtempSync(join(tmpdir(), 'writ-warm-'))
try {
  for (const name of ['home', 'project']) mkdirSync(join(place, name))
  process.env.HOME = join(place, 'home')
  process.env.XDG_STATE_HOME = join(place, 'state')
  process.chdir(join(place, 'project'))
  const { load } = createRequire(import.meta.url)(join(ROOT, 'bin', 'writ.cjs'))
  const program = load(BUILT, 'program')
  await program.main(HOME)
  const { main, script } = name === 'program' ? program : load(BUILT, name)
  for (const call of CALLS_OF[name] ?? CALLS) await main(call)
  writeFileSync(join(BUILT, `${name}.cjs.code`), script.createCachedData())
} finally {
  process.chdir(ROOT)
  rmSync(place, { recursive: true, force: true })
}
