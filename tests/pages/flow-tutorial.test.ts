/** docs/flow-tutorial.md: each way is walked in a directory of its own, every command with its output. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { Place } from '../cli-gate/place.ts'
import { HUB_SIDE, hubTable } from '../flow-documents/hub-table.ts'
import { filesIn, walkShown } from '../shown.ts'

const SECTIONS = readFileSync('docs/flow-tutorial.md', 'utf8').split(/^## /m)

let place: Place
afterEach(() => place?.remove())

/** Walks the section that begins so; `given` are files that its reader has. */
function walk(title: string, given: Readonly<Record<string, string>> = {}): number {
  const section = SECTIONS.find((text) => text.startsWith(title))
  if (section === undefined) throw new Error(`there is no section ${title}`)
  place = new Place('flow-tutorial')
  rmSync(join(place.project, '.git'), { recursive: true })
  const files = Object.entries(given).map(([name, text]) => ({ name, text }))
  for (const { name, text } of [...filesIn(section), ...files]) {
    mkdirSync(dirname(join(place.project, name)), { recursive: true })
    writeFileSync(join(place.project, name), text)
  }
  return walkShown(place, section, [], '', 400_000).length
}

it('builds a flow of six nodes', { timeout: 300_000 }, () => {
  expect(walk('Six nodes')).toBeGreaterThanOrEqual(12)
})

it('runs a table of 146 rows', { timeout: 500_000 }, () => {
  expect(
    walk('You come with an edge table', { 'edges.csv': hubTable(), 'mine.yaml': mine() }),
  ).toBe(7)
})

it('runs a plan of an agent team', { timeout: 300_000 }, () => {
  expect(walk('You come with a plan.json', { 'plan.json': JSON.stringify(PLAN) })).toBe(4)
  const delivered = execFileSync('find', ['delivered', '-name', '*.md'], { cwd: place.project })
  expect(delivered.toString().trim().split('\n')).toHaveLength(2)
})

/** The reader's own side file: the agents of the page, and the decisions of this table. */
function mine(): string {
  const nodes = (HUB_SIDE.nodes ?? []).map(({ node_id, kind, reviewer, executor }) => ({
    node_id,
    ...(isQuick(node_id) ? { kind: 'WORK' } : kind === undefined ? {} : { kind }),
    ...(reviewer === undefined || isQuick(node_id)
      ? {}
      : { reviewer: { command: ['node', 'agents/review.mjs'] } }),
    ...(executor === undefined
      ? {}
      : { executor: { command: ['node', 'agents/work.mjs'], tools: 'none' } }),
  }))
  return stringify({ ...HUB_SIDE, nodes })
}

/** Each of the 29 callers of the shared gate comes to it: a program there would double the time. */
function isQuick(nodeId: string): boolean {
  return nodeId === 'AUDIT'
}

/** As a planner writes it: aliases, a chain from START to END, texts of its own, one task without a check. */
const PLAN = {
  plan: { title: 'A small song', goal: 'a song for all', owner_agent_id: 'xiaobo' },
  tasks: [
    { id: 'root', type: 'GOAL', title: 'A small song', owner_agent_id: 'xiaobo' },
    { id: 'words', type: 'ACTION', title: 'Write the words', goal_statement: 'two verses' },
    { id: 'judge', type: 'CHECK', title: 'Judge the words', owner_agent_id: 'xiaojing' },
    { id: 'tune', type: 'ACTION', title: 'Write the tune', rationale: 'it is to be sung' },
  ],
  links: [
    { from: 'words', to: 'judge', type: 'DEPENDS_ON' },
    { from: 'judge', to: 'tune', type: 'DEPENDS_ON' },
  ],
}
