/**
 * One round on a generated tree: promote, see that the tree is what was rehearsed, roll back, see that
 * it is what it was, to the nanosecond. Each difference is one line; none is a pass.
 */
import { chmodSync, lstatSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { applySteps, randomTree } from '../tree/random-tree.ts'
import { listingDifferences, treeListing } from '../tree/tree-hash.ts'
import { hasJournals, promoteIn, type Rig, rehearse, rollbackIn, unlike } from './rig.ts'

const isRoot = process.getuid?.() === 0
/** What its owner may not read cannot be copied for a rehearsal without a sandbox. */
const OPTIONS = { owners: isRoot, closedModes: isRoot, links: true }

export async function treeRound(rig: Rig, seed: number): Promise<readonly string[]> {
  try {
    return await tryRound(rig, seed)
  } catch (error) {
    return [error instanceof Error ? (error.stack ?? error.message) : String(error)]
  } finally {
    openUp(rig.base)
  }
}

async function tryRound(rig: Rig, seed: number): Promise<readonly string[]> {
  rmSync(rig.tree, { recursive: true, force: true })
  mkdirSync(rig.tree)
  const { build, change } = randomTree(seed, OPTIONS)
  applySteps(rig.tree, build)
  const old = treeListing(rig.tree)
  // Every third one in two acts, which are rolled back together.
  const half = change.length >> 1
  const acts = seed % 3 === 0 ? [change.slice(0, half), change.slice(half)] : [change]
  const ids: string[] = []
  for (const act of acts) {
    const rehearsed = await rehearse(rig, (copy) => applySteps(copy, act))
    await promoteIn(rig, rehearsed)
    const wrong = unlike(rig, rehearsed.wanted)
    if (wrong.length > 0) return wrong.map((path) => `not promoted: ${JSON.stringify(path)}`)
    ids.unshift(rehearsed.actionId)
  }
  const { verified } = await rollbackIn(rig, ids)
  const different = listingDifferences(old, treeListing(rig.tree))
  return verified && !hasJournals(rig) ? different : ['not verified', ...different]
}

/** Opens directories, so that the user who made them can remove them. */
function openUp(directory: string): void {
  if (isRoot) return
  const open = [Buffer.from(directory)]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (!lstatSync(next).isDirectory()) continue
    chmodSync(next, 0o700)
    for (const name of readdirSync(next, { encoding: 'buffer' })) {
      open.push(Buffer.concat([next, Buffer.from('/'), name]))
    }
  }
}
