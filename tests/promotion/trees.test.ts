/**
 * Generated trees and changes: symbolic links, renames, modes, attributes, odd names, type swaps, hard
 * links, owners, holes. Promoting makes the tree what was rehearsed, rolling back makes it what it was,
 * to the nanosecond.
 *
 * `WRIT_PROMOTION_TREES` and `WRIT_SEED` make the soak out of the slice; the seed is in the name.
 */
import { mkdirSync, rmSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { applySteps, randomTree } from '../tree/random-tree.ts'
import { listingDifferences, treeListing } from '../tree/tree-hash.ts'
import { hasJournals, makeRig, promoteIn, type Rig, rehearse, rollbackIn, unlike } from './rig.ts'

const TREES = Number(process.env['WRIT_PROMOTION_TREES'] ?? 600)
const SEED = Number(process.env['WRIT_SEED'] ?? 20261115)
const BATCHES = 6
const OPTIONS = { owners: process.getuid?.() === 0, closedModes: false, links: true }

async function round(rig: Rig, seed: number): Promise<readonly string[]> {
  rmSync(rig.tree, { recursive: true, force: true })
  mkdirSync(rig.tree)
  const { build, change } = randomTree(seed, OPTIONS)
  applySteps(rig.tree, build)
  const old = treeListing(rig.tree)
  // Every third one in two acts, which are rolled back together.
  const acts =
    seed % 3 === 0
      ? [change.slice(0, change.length >> 1), change.slice(change.length >> 1)]
      : [change]
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

describe(`promote, then roll back, ${TREES} generated trees (seed ${SEED})`, () => {
  it.each(Array.from({ length: BATCHES }, (_, batch) => batch))(
    'batch %i',
    async (batch) => {
      const rig = makeRig('trees')
      try {
        for (let index = batch; index < TREES; index += BATCHES) {
          const found = await round(rig, SEED + index).catch((error: unknown) => [String(error)])
          expect({ seed: SEED + index, found }).toEqual({ seed: SEED + index, found: [] })
        }
      } finally {
        rig.remove()
      }
    },
    600_000,
  )
})
