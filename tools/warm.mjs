/**
 * Runs the built program as people do and keeps the code that V8 made of it, so that the next start
 * need not make it again. In a process of its own, in homes of its own: `node tools/warm.mjs DIST`.
 *
 * Where nothing can be rehearsed, less has run and less is kept; that is all.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from './setup.mjs'

const [, , directory = join(ROOT, 'dist')] = process.argv
const STARTER = join(ROOT, 'bin', 'writ.cjs')
const PROGRAM = join(directory, 'cli')

/** By file. What is done seldom is not worth its place: all that is kept is read at every start. */
const CALLS = {
  exec: [
    ['exec', '--', 'true'],
    ['exec', '--write', 'made.txt', '--', 'touch', 'made.txt'],
  ],
  program: [['--help']],
}

const place = mkdtempSync(join(tmpdir(), 'writ-warm-'))
try {
  const project = join(place, 'project')
  for (const name of ['home', 'project']) mkdirSync(join(place, name))
  process.env.HOME = join(place, 'home')
  process.env.XDG_STATE_HOME = join(place, 'state')
  process.chdir(project)
  const init = `require(${JSON.stringify(STARTER)}).load(${JSON.stringify(PROGRAM)}).main(['init', '--no-pass'])`
  spawnSync(process.execPath, ['-e', init], { stdio: 'ignore' })
  const { load, scripts } = createRequire(import.meta.url)(STARTER)
  for (const [name, calls] of Object.entries(CALLS)) {
    const { main } = load(PROGRAM, name)
    for (const call of calls) await main(call)
  }
  for (const [file, script] of scripts) writeFileSync(`${file}.code`, script.createCachedData())
} finally {
  process.chdir(ROOT)
  rmSync(place, { recursive: true, force: true })
}
