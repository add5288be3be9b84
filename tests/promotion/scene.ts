/**
 * A small tree and a change to it in which every kind of step occurs; and what tests say of it after
 * an interruption: old or new, wholly, and the facts say which.
 */
import { randomUUID } from 'node:crypto'
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { AppliedPromotion, AppliedRollback } from '../../src/promotion/index.ts'
import { listingDifferences, treeListing } from '../tree/tree-hash.ts'
import { type Rehearsed, type Rig, type recording, rehearse, unlike } from './rig.ts'

export function plantScene(root: string): void {
  for (const name of ['stay', 'gone/deep', 'swap', 'mode/inside']) {
    mkdirSync(join(root, name), { recursive: true })
  }
  for (const name of ['changed', 'deleted', 'linked', 'stay/changed', 'gone/a', 'gone/deep/b']) {
    writeFileSync(join(root, name), `old ${name}`)
  }
  writeFileSync(join(root, 'swap/x'), 'old swap')
  writeFileSync(join(root, 'turned'), 'a file that becomes a directory')
  writeFileSync(join(root, 'mode/inside/y'), 'y')
  writeFileSync(join(root, 'large'), 'old '.repeat(40_000))
}

export function changeScene(root: string): void {
  writeFileSync(join(root, 'changed'), 'new changed')
  rmSync(join(root, 'deleted'))
  rmSync(join(root, 'linked'))
  symlinkSync('stay/changed', join(root, 'linked'))
  writeFileSync(join(root, 'stay/changed'), 'new stay/changed')
  writeFileSync(join(root, 'stay/added'), 'new stay/added')
  rmSync(join(root, 'gone'), { recursive: true })
  rmSync(join(root, 'swap'), { recursive: true })
  writeFileSync(join(root, 'swap'), 'now a file')
  rmSync(join(root, 'turned'))
  mkdirSync(join(root, 'turned/inside'), { recursive: true })
  writeFileSync(join(root, 'turned/inside/z'), 'z')
  mkdirSync(join(root, 'fresh/deep'), { recursive: true })
  writeFileSync(join(root, 'fresh/deep/file'), 'fresh')
  chmodSync(join(root, 'mode'), 0o700)
  writeFileSync(join(root, 'large'), 'new '.repeat(50_000))
}

export interface Scene {
  readonly old: ReadonlyMap<string, string>
  readonly rehearsed: Rehearsed
  /** The file from which another process can promote. */
  readonly file: string
}

export async function makeScene(rig: Rig): Promise<Scene> {
  plantScene(rig.tree)
  const old = treeListing(rig.tree)
  const rehearsed = await rehearse(rig, changeScene, randomUUID())
  const file = join(rig.base, 'rehearsed.json')
  writeFileSync(file, JSON.stringify(rehearsed))
  return { old, rehearsed, file }
}

/** What differs from the old tree, times of directories included. */
export function unlikeOld(rig: Rig, { old }: Scene): readonly string[] {
  return listingDifferences(old, treeListing(rig.tree))
}

export function unlikeNew(rig: Rig, { rehearsed }: Scene): readonly string[] {
  return unlike(rig, rehearsed.wanted)
}

/** Facts that processes wrote, the first of each key. */
export function factsOf({ base }: Rig): ReadonlyMap<string, AppliedPromotion | AppliedRollback> {
  const facts = new Map<string, AppliedPromotion | AppliedRollback>()
  const file = join(base, 'facts.jsonl')
  if (!existsSync(file)) return facts
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    if (line === '') continue
    const { key, fact } = JSON.parse(line) as {
      key: string
      fact: AppliedPromotion | AppliedRollback
    }
    if (!facts.has(key)) facts.set(key, fact)
  }
  return facts
}

/** Records of this process into the same file. */
export function fileRecording(rig: Rig): ReturnType<typeof recording> {
  const append = (key: string, fact: AppliedPromotion | AppliedRollback): void =>
    appendFileSync(join(rig.base, 'facts.jsonl'), `${JSON.stringify({ key, fact })}\n`)
  return {
    recordPromotion: async (fact) => append(`promotion/${fact.actionId}`, fact),
    recordRollback: async (fact) => append(`rollback/${fact.rollbackId}`, fact),
  }
}
