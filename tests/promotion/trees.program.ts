/** Rounds on generated trees in a process of its own, so that another user can run them. */
import { writeSync } from 'node:fs'
import { readInput } from '../ledger/program-input.ts'
import { makeRig } from './rig.ts'
import { treeRound } from './tree-rounds.ts'

export interface TreesInput {
  readonly from: number
  readonly count: number
}

const { from, count } = readInput<TreesInput>()
const rig = makeRig('trees')
try {
  for (let seed = from; seed < from + count; seed++) {
    const found = await treeRound(rig, seed)
    writeSync(1, `${JSON.stringify({ seed, found })}\n`)
    if (found.length > 0) break
  }
} finally {
  rig.remove()
}
