/**
 * Runs the built program as people do and keeps the code that V8 made of it, so that the next start
 * need not make it again. In a process of its own, in homes of its own: `node tools/warm.mjs DIST`.
 *
 * Where nothing can be rehearsed, less has run and less is kept; that is all.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from './setup.mjs'

const CALLS = [
  ['init', '--no-pass'],
  ['exec', '--', 'true'],
  ['check', 'laws.json'],
]
const [, , directory = join(ROOT, 'dist')] = process.argv

const place = mkdtempSync(join(tmpdir(), 'writ-warm-'))
try {
  const project = join(place, 'project')
  for (const name of ['home', 'project']) mkdirSync(join(place, name))
  process.env.HOME = join(place, 'home')
  process.env.XDG_STATE_HOME = join(place, 'state')
  process.chdir(project)
  writeFileSync('laws.json', '{"laws_version": 1, "laws": []}\n')
  const { load } = createRequire(import.meta.url)('../bin/writ.cjs')
  const { main, script } = load(join(directory, 'cli'))
  for (const call of CALLS) await main(call)
  writeFileSync(join(directory, 'cli', 'program.cjs.code'), script.createCachedData())
} finally {
  process.chdir(ROOT)
  rmSync(place, { recursive: true, force: true })
}
