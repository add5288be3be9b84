/**
 * What an ordinary user's own modes forbid him: directories that he may not write into, files that he
 * may not read. A rehearsal can open and close them again, so a promotion must be able to as well.
 * Says one line a case: its name, and what is wrong.
 */
import { chmodSync, lstatSync, mkdirSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Change, EntryState, RawPath } from '../../src/gate/index.ts'
import { readInput } from '../ledger/program-input.ts'
import { listingDifferences, treeListing } from '../tree/tree-hash.ts'
import {
  makeRig,
  openRig,
  promoteIn,
  type Rehearsed,
  type Rig,
  readTree,
  rehearse,
  rollbackIn,
  unlike,
} from './rig.ts'

export interface ClosedInput {
  /** A place with a file of root in the user's own directory; null when there is no root. */
  readonly foreign: string | null
}

interface Case {
  readonly plant: (root: string) => void
  readonly change: (root: string) => void
}

const CASES: Readonly<Record<string, Case>> = {
  'entries of a directory without the right to write': {
    plant: (root) => {
      mkdirSync(join(root, 'd'))
      writeFileSync(join(root, 'd/a'), 'old')
      writeFileSync(join(root, 'd/b'), 'old')
      chmodSync(join(root, 'd'), 0o555)
    },
    change: (root) => {
      chmodSync(join(root, 'd'), 0o755)
      rmSync(join(root, 'd/a'))
      writeFileSync(join(root, 'd/b'), 'new')
      writeFileSync(join(root, 'd/c'), 'new')
      chmodSync(join(root, 'd'), 0o555)
    },
  },
  'a new tree without the right to write': {
    plant: () => {},
    change: (root) => {
      mkdirSync(join(root, 'n/m'), { recursive: true })
      writeFileSync(join(root, 'n/m/a'), 'new')
      chmodSync(join(root, 'n/m'), 0o555)
      chmodSync(join(root, 'n'), 0o555)
    },
  },
  'a deleted tree without the right to write': {
    plant: (root) => {
      mkdirSync(join(root, 'n/m'), { recursive: true })
      writeFileSync(join(root, 'n/m/a'), 'old')
      chmodSync(join(root, 'n/m'), 0o555)
      chmodSync(join(root, 'n'), 0o555)
    },
    change: (root) => {
      chmodSync(join(root, 'n'), 0o755)
      chmodSync(join(root, 'n/m'), 0o755)
      rmSync(join(root, 'n'), { recursive: true })
    },
  },
}

async function tryCase(rig: Rig, { plant, change }: Case): Promise<readonly string[]> {
  plant(rig.tree)
  const old = treeListing(rig.tree)
  const rehearsed = await rehearse(rig, change)
  await promoteIn(rig, rehearsed)
  const wrong = unlike(rig, rehearsed.wanted)
  await rollbackIn(rig, [rehearsed.actionId])
  return [...wrong, ...listingDifferences(old, treeListing(rig.tree))]
}

/** Deletes a file that its owner may not read; its bytes were seen from inside a sandbox. */
async function tryUnreadable(rig: Rig): Promise<readonly string[]> {
  const path = join(rig.tree, 'a')
  writeFileSync(path, 'old')
  const before = readTree(rig.tree, rig.tree).get(path as RawPath) as EntryState
  const empty = await rehearse(rig, () => {})
  chmodSync(path, 0)
  const old = treeListing(rig.tree)
  const changes: Change[] = [{ path: path as RawPath, before: { ...before, mode: 0 }, after: null }]
  const rehearsed: Rehearsed = { ...empty, changes }
  await promoteIn(rig, rehearsed)
  const wrong = lstatSync(path, { throwIfNoEntry: false }) === undefined ? [] : ['still there']
  await rollbackIn(rig, [rehearsed.actionId])
  return [...wrong, ...listingDifferences(old, treeListing(rig.tree))]
}

async function inRig(name: string, work: (rig: Rig) => Promise<readonly string[]>): Promise<void> {
  const rig = makeRig('closed')
  let found: readonly string[]
  try {
    found = await work(rig)
  } catch (error) {
    found = [error instanceof Error ? (error.stack ?? error.message) : String(error)]
  }
  writeSync(1, `${JSON.stringify({ name, found })}\n`)
  rig.remove()
}

/** Tries a file of another user in an own directory: it may be moved, but not linked. */
async function tryForeign(base: string): Promise<readonly string[]> {
  const rig = openRig(base)
  const old = treeListing(rig.tree)
  const rehearsed = await rehearse(rig, (root) => rmSync(join(root, 'foreign')))
  await promoteIn(rig, rehearsed)
  const wrong = unlike(rig, rehearsed.wanted)
  await rollbackIn(rig, [rehearsed.actionId])
  const { uid } = lstatSync(join(rig.tree, 'foreign'))
  return [
    ...wrong,
    ...(uid === 0 ? [] : [`owned by ${uid}`]),
    ...listingDifferences(old, treeListing(rig.tree)),
  ]
}

const { foreign } = readInput<ClosedInput>()
for (const [name, each] of Object.entries(CASES)) await inRig(name, (rig) => tryCase(rig, each))
await inRig('a file that nobody may read', tryUnreadable)
if (foreign !== null) {
  await inRig('a file of somebody else', () => tryForeign(foreign))
}
