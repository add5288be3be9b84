/** A scripted run walks as a real one does whose programs say the same: nodes, edges, verdicts, findings. */
import { cpSync, readFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { parse } from 'yaml'
import type { Flow, FlowTest } from '../../src/contracts/index.ts'
import { compileFlow, type FlowFact, runTestCase } from '../../src/flow/index.ts'
import { findingsIn, RunPlace } from '../flow-run/place.ts'

let place: RunPlace

beforeEach(async () => {
  place = await new RunPlace('as-real').make()
})

afterEach(() => place.remove())

function walked(facts: readonly FlowFact[]) {
  const events = facts.flatMap(({ type, payload }) => (type === 'flow_event_v1' ? [payload] : []))
  return {
    nodes: events.flatMap((one) => (one.kind === 'entered' ? [one.node_id] : [])),
    edges: events.flatMap((one) => (one.kind === 'fired' ? [one.edge_id] : [])),
  }
}

it('the pipeline of the examples', { timeout: 120_000 }, async () => {
  cpSync('examples/flows/phased', place.workspace, { recursive: true })
  const flow = parse(place.read('flow.yaml')) as Flow
  const run = await place.run(flow)
  const test = parse(readFileSync('examples/flows/phased/flow.test.yaml', 'utf8')) as FlowTest
  const one = test.cases.find(({ name }) => name.startsWith('one source too few'))
  const compilation = compileFlow(flow)
  if (!compilation.ok || one === undefined) throw new Error('the example loads')
  const { nodes, edges, status, walk } = runTestCase(compilation.flow, test, one)
  expect({ nodes, edges }).toEqual(walked(run.facts))
  expect(status).toBe(run.status)
  const codes = findingsIn(run).map((text) => text.split(' ')[0])
  const scripted = walk.flatMap((line) => /^finding (\S+)/.exec(line)?.[1] ?? [])
  expect(scripted).toEqual(codes)
})
