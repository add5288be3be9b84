/** The example of an edge table runs to its end with the programs that lie next to it. */
import { cpSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { claimStandings, importTable } from '../../src/flow/index.ts'
import { enteredIn } from './acceptance/scene.ts'
import { findingsIn, type RunPlace } from './place.ts'
import { placeEach } from './place-each.ts'

let place: RunPlace

placeEach('tables', (made) => {
  place = made
})

it('the time gate and the claim are passed by honest participants', {
  timeout: 120_000,
}, async () => {
  cpSync('examples/flows/tables', place.workspace, { recursive: true })
  const table = readFileSync('examples/flows/tables/edges.csv', 'utf8')
  const side: unknown = parse(place.read('side.yaml'))
  const { flow } = importTable(table, side, { flowId: 'paper', title: 'paper' })
  if (flow === null) throw new Error('the table does not load')
  const run = await place.run(flow)
  expect([run.status, findingsIn(run)]).toEqual(['DONE', []])
  expect(enteredIn(run.facts)).toContain('P2_LONG')
  const [claim] = claimStandings(run.flow, run.state)
  expect(claim).toMatchObject({ verification_status: 'verified' })
})
