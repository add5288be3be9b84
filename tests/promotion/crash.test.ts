/**
 * `kill -9` at random moments, with readers and an editor at work (I6, G-20): every read sees the old
 * file, the new one, or none, never a torn one; no edit of the editor is lost; and after recovery the
 * rest of the tree is wholly old or wholly new, as the facts say.
 *
 * `WRIT_PROMOTION_ROUNDS` and `WRIT_SEED` make the soak out of the slice; the seed is in the name.
 */
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { displayOfRaw, type RawPath } from '../../src/gate/index.ts'
import { type Choice, resolveRecovery, withWorkspaceLock } from '../../src/promotion/index.ts'
import { runProgram } from '../ledger/program.ts'
import type { ActInput } from './act.program.ts'
import { hasJournals, makeRig, type Rig, recoverIn } from './rig.ts'
import { factsOf, fileRecording, makeScene, type Scene, unlikeNew, unlikeOld } from './scene.ts'

const ROUNDS = Number(process.env['WRIT_PROMOTION_ROUNDS'] ?? 30)
const SEED = Number(process.env['WRIT_SEED'] ?? 20261115)
const AT_ONCE = 3
/** The life of a promotion on a machine that does other things as well. */
const KILL_WITHIN_MS = 150
const EDITED = 'stay/changed'

function dice(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const READ = ['changed', 'large', 'deleted', 'gone/deep/b', 'fresh/deep/file', 'turned/inside/z']

function textsOf(name: string): readonly string[] {
  if (name === 'large') return ['old '.repeat(40_000), 'new '.repeat(50_000)]
  return [`old ${name}`, `new ${name}`, 'fresh', 'z']
}

/** Others at work while a process promotes. */
interface Others {
  isOver: boolean
  readonly torn: Set<string>
  /** What the editor wrote last, if it came to it. */
  edit: string | null
}

async function readOn(rig: Rig, others: Others): Promise<void> {
  while (!others.isOver) {
    for (const name of READ) {
      let text: string
      try {
        text = readFileSync(join(rig.tree, name), 'utf8')
      } catch {
        continue
      }
      if (!textsOf(name).includes(text)) others.torn.add(`${name}: ${text.slice(0, 40)}`)
    }
    await pause(1)
  }
}

/** Saves once, as editors do: in place, or under another name and then renamed. */
function save(rig: Rig, others: Others, inPlace: boolean): void {
  if (others.isOver) return
  const text = `their edit ${Math.floor(performance.now() * 1000)}`
  const path = join(rig.tree, EDITED)
  try {
    if (inPlace) writeFileSync(path, text, { flag: 'r+' })
    else {
      writeFileSync(`${path}.tmp`, text)
      renameSync(`${path}.tmp`, path)
    }
    others.edit = text
  } catch {
    // Absent in this moment: the editor says so, and nothing was saved.
  }
}

/** What stopped recovery is the editor's: it is kept, or taken back out of the pre-images. */
async function decide(rig: Rig, id: string, paths: readonly RawPath[]): Promise<void> {
  const choices = new Map<RawPath, Choice>()
  for (const path of paths) {
    const isThere = existsAt(displayOfRaw(path))
    choices.set(path, isThere ? 'keep' : 'old')
  }
  await withWorkspaceLock(rig.tree, { waitMs: 5000 }, (lock) =>
    resolveRecovery({
      id,
      lock,
      state: rig.state,
      direction: 'REVERTED',
      choices,
      ...fileRecording(rig),
    }),
  )
}

function existsAt(path: string): boolean {
  try {
    readFileSync(path)
    return true
  } catch {
    return false
  }
}

/** What is wrong after a round. */
async function round(rig: Rig, scene: Scene, chance: () => number): Promise<readonly string[]> {
  const others: Others = { isOver: false, torn: new Set(), edit: null }
  const input: ActInput = { base: rig.base, act: 'promote', rehearsed: scene.file, quiet: true }
  const edits = chance() < 0.5
  const inPlace = chance() < 0.5
  const editAtMs = chance() * KILL_WITHIN_MS
  const reading = readOn(rig, others)
  await runProgram('tests/promotion/act.program.ts', input, {
    killAfterMs: chance() * KILL_WITHIN_MS,
    onLine: (line) => {
      if (line === 'ready' && edits) setTimeout(() => save(rig, others, inPlace), editAtMs)
    },
  })
  others.isOver = true
  await reading
  for (const ended of await recoverIn(rig, fileRecording(rig))) {
    if (ended.outcome === 'CONFLICT') await decide(rig, ended.id, ended.paths)
  }
  const status = factsOf(rig).get(`promotion/${scene.rehearsed.actionId}`)?.status ?? 'none'
  const wrong = [...others.torn]
  const theirs = others.edit === null ? [] : [EDITED, 'stay']
  const different = (status === 'APPLIED' ? newNames(rig, scene) : oldNames(rig, scene)).filter(
    (name) => !theirs.includes(name),
  )
  if (different.length > 0) wrong.push(`${status}: ${different.join(' ')}`)
  if (hasJournals(rig)) wrong.push('a journal is left')
  const text = existsAt(join(rig.tree, EDITED))
    ? readFileSync(join(rig.tree, EDITED), 'utf8')
    : null
  if (others.edit !== null && !text?.startsWith(others.edit)) {
    wrong.push(`lost edit: ${text} instead of ${others.edit}; ${readdirSync(rig.preimages)}`)
  }
  counts.set(status, (counts.get(status) ?? 0) + 1)
  return wrong
}

const counts = new Map<string, number>()

function oldNames(rig: Rig, scene: Scene): string[] {
  return unlikeOld(rig, scene)
    .map((line): string => JSON.parse(line.split('\n')[0] ?? '""'))
    .filter((name) => !name.endsWith('.tmp'))
}

function newNames(rig: Rig, scene: Scene): string[] {
  return unlikeNew(rig, scene).map((path) => path.slice(rig.tree.length + 1))
}

describe(`kill -9 at random, ${ROUNDS} rounds (seed ${SEED})`, () => {
  it('leaves the old tree or the new one, and the facts say which', async () => {
    const numbers = Array.from({ length: ROUNDS }, (_, index) => index)
    const one = async (index: number): Promise<void> => {
      const rig = makeRig('kill')
      try {
        const found = await round(rig, await makeScene(rig), dice(SEED + index))
        expect({ seed: SEED + index, found }).toEqual({ seed: SEED + index, found: [] })
      } finally {
        rig.remove()
      }
    }
    for (let from = 0; from < ROUNDS; from += AT_ONCE) {
      await Promise.all(numbers.slice(from, from + AT_ONCE).map(one))
    }
    // Kills came before, within and after.
    expect(counts.size).toBeGreaterThan(1)
  }, 3_600_000)
})
