/**
 * A hammering editor (G-20): promotions of a file that an editor saves all the time. What is
 * promoted displaced exactly what was rehearsed on, and nothing is written to it afterwards; the
 * editor's last save is in place, or was seen by the rehearsal that replaced it. No edit is lost.
 *
 * Between the rehearsal and the promotion there is as little time as possible, so that many of them
 * come to the race itself. `WRIT_HAMMER_PROMOTIONS` makes the soak out of the slice.
 */
import { createHash, randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Digest } from '../../src/base/index.ts'
import type { Change, EntryState, RawPath } from '../../src/gate/index.ts'
import { lookAt } from '../../src/promotion/entries/entry.ts'
import { writeStage } from '../../src/tree/stage.ts'
import { runProgram } from '../ledger/program.ts'
import { codeOf, keepFor, makeRig, promoteIn, type Rehearsed, type Rig, recoverIn } from './rig.ts'
import { fileRecording } from './scene.ts'

const PROMOTIONS = Number(process.env['WRIT_HAMMER_PROMOTIONS'] ?? 100)
const PAUSE_MS_MAX = 300

function digestOf(text: string): Digest {
  return `sha256:${createHash('sha256').update(text).digest('hex')}` as Digest
}

/** The file as it is now, and a new one for it; null when the editor is just at it. */
async function rehearseFile(rig: Rig, number: number): Promise<Rehearsed | null> {
  const path = join(rig.tree, 'file')
  const entry = lookAt(path)
  if (entry === null || entry.kind !== 'file') return null
  const text = readFileSync(path, 'utf8')
  if (Buffer.byteLength(text) !== entry.size) return null
  const before: EntryState = {
    kind: 'file',
    mode: entry.mode,
    size: entry.size,
    digest: digestOf(text),
    target: null,
    attributes: [],
    owner: null,
    mtimeNs: entry.mtimeNs,
    linkGroup: null,
  }
  const actionId = randomUUID()
  const stage = join(rig.base, 'stage', actionId)
  mkdirSync(stage, { recursive: true })
  const promoted = `promoted ${number}`
  writeFileSync(join(stage, 'u0'), promoted)
  const after = { ...before, size: promoted.length, digest: digestOf(promoted) }
  const changes: Change[] = [{ path: path as RawPath, before, after }]
  writeStage({
    stage,
    entries: [{ path: path as RawPath, place: 'u0' as RawPath, isUnit: true }],
    emptied: [],
  })
  return { actionId, changes, stage, wanted: new Map() }
}

interface Tally {
  readonly codes: Map<string, number>
  /** Pre-images of promotions that went through, with what they must hold. */
  readonly displaced: { readonly file: string; readonly digest: Digest }[]
  tried: number
}

async function tryOnce(rig: Rig, tally: Tally): Promise<void> {
  const rehearsed = await rehearseFile(rig, tally.tried)
  if (rehearsed === null) return
  tally.tried++
  const code = await codeOf(promoteIn(rig, rehearsed))
  tally.codes.set(code, (tally.codes.get(code) ?? 0) + 1)
  if (code === 'none') {
    const keep = keepFor(rig, rehearsed.actionId)
    const digest = rehearsed.changes[0]?.before?.digest as Digest
    tally.displaced.push({ file: join(keep, '0'), digest })
  } else if (code === 'recovery.conflict' || code === 'promote.unrecovered') {
    await recoverIn(rig, fileRecording(rig))
  }
}

describe(`at least ${PROMOTIONS} promotions against a hammering editor`, () => {
  it('lose no edit', async () => {
    const rig = makeRig('hammer')
    const file = join(rig.tree, 'file')
    writeFileSync(file, 'first')
    const tally: Tally = { codes: new Map(), displaced: [], tried: 0 }
    const saved: string[] = []
    const stop = join(rig.base, 'stop')
    const editor = runProgram(
      'tests/promotion/editor.program.ts',
      { file, stop, pauseMsMax: PAUSE_MS_MAX },
      { onLine: (line) => saved.push(line) },
    )
    try {
      while (tally.tried < PROMOTIONS || saved.length < 2) await tryOnce(rig, tally)
      writeFileSync(stop, '')
      const { errors } = await editor
      expect(errors).toBe('')
      const count = Number(saved.at(-1))
      const last = `edit ${count} `.repeat(1 + (count % 50))
      const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
      // Promotions may have followed one another since: the edit is kept by the one that displaced it.
      const isKept = tally.displaced.some(({ digest }) => digest === digestOf(last))
      const isSeen = text.startsWith('promoted ') && isKept
      expect(text === last || isSeen).toBe(true)
      for (const { file: kept, digest } of tally.displaced) {
        expect(digestOf(readFileSync(kept, 'utf8'))).toBe(digest)
      }
      // Both happened, or the test has tried nothing.
      expect(tally.displaced.length).toBeGreaterThan(0)
      expect([...tally.codes.keys()].sort()).not.toEqual(['none'])
      expect(readdirSync(join(rig.state, 'journal'))).toEqual([])
    } finally {
      writeFileSync(stop, '')
      await editor
      rig.remove()
    }
  }, 3_600_000)
})
