/** examples/flows/hub-table is the table that tests of large tables walk, with a side file for its reader. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { stringify } from 'yaml'
import { HUB_SIDE, hubTable } from './hub-table.ts'

const FOLDER = join('examples', 'flows', 'hub-table')

/** Each of the 29 callers of the shared gate comes to it: a program there would double the time. */
const QUICK = 'AUDIT'

/** The reader's own side file: the agents of the tutorial, and the decisions of this table. */
function mine(): string {
  const nodes = (HUB_SIDE.nodes ?? []).map(({ node_id, kind, reviewer, executor }) => ({
    node_id,
    ...(node_id === QUICK ? { kind: 'WORK' } : kind === undefined ? {} : { kind }),
    ...(reviewer === undefined || node_id === QUICK
      ? {}
      : { reviewer: { command: ['node', 'agents/review.mjs'] } }),
    ...(executor === undefined
      ? {}
      : { executor: { command: ['node', 'agents/work.mjs'], tools: 'none' } }),
  }))
  return stringify({ ...HUB_SIDE, nodes })
}

it.each([
  ['edges.csv', hubTable],
  ['mine.yaml', mine],
])('%s is made by this project', (name, made) => {
  const file = join(FOLDER, name)
  if (process.env['WRIT_RECORD'] === '1') writeFileSync(file, made())
  expect(readFileSync(file, 'utf8')).toBe(made())
})
