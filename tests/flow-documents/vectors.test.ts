/** The conformance cases of flows as documents: checks, tables, plans, lists, migrations. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { CODES } from '../../src/base/index.ts'
import { type Flow, listFault } from '../../src/contracts/index.ts'
import {
  checkFlow,
  exportTable,
  importTable,
  loadPlan,
  planMigration,
  readParticipants,
} from '../../src/flow/index.ts'
import { Host } from '../flow-runtime/host.ts'
import { changed } from '../vectors/vector.ts'

interface Place {
  readonly code: string
  readonly path: string
}

interface CheckCase {
  readonly id: string
  readonly note: string
  readonly from?: string
  readonly document?: unknown
  readonly remove?: readonly string[]
  readonly set?: Readonly<Record<string, unknown>>
  readonly want: {
    readonly valid: boolean
    readonly violations: readonly Place[]
    readonly warnings: readonly Place[]
  }
}

const read = (name: string) => JSON.parse(readFileSync(`spec/vectors/flow/${name}.json`, 'utf8'))
const placesOf = (list: readonly Place[]) => list.map(({ code, path }) => ({ code, path }))

describe('checks', () => {
  const { bases, cases } = read('checks') as {
    readonly bases: Readonly<Record<string, unknown>>
    readonly cases: readonly CheckCase[]
  }

  it.each(cases.map((row) => [row.id, row] as const))('%s', (_, row) => {
    const { from, document, remove, set, want } = row
    const flow = from === undefined ? document : changed(bases[from], remove, set)
    const before = JSON.stringify(flow)
    const { valid, violations, warnings } = checkFlow(flow)
    expect({ valid, violations: placesOf(violations), warnings: placesOf(warnings) }).toEqual(want)
    expect(JSON.stringify(flow)).toBe(before)
    for (const { message } of [...violations, ...warnings])
      expect(message).toMatch(/^[^A-Z].*[^.]$/s)
  })

  it('name every case once, and every code of the checks', () => {
    expect(new Set(cases.map(({ id }) => id)).size).toBe(cases.length)
    expect(cases.length).toBeGreaterThanOrEqual(80)
    const named = new Set(
      cases.flatMap(({ want }) => [...want.violations, ...want.warnings].map(({ code }) => code)),
    )
    const page = Object.keys(CODES)
    const of = page.slice(page.indexOf('flow.unreachable'), page.indexOf('flow.table_text'))
    expect(of.filter((code) => !named.has(code))).toEqual([])
  })
})

interface TableCase {
  readonly id: string
  readonly note: string
  readonly text: string
  readonly side?: unknown
  readonly want: {
    readonly findings: readonly Readonly<Record<string, unknown>>[]
    readonly flow?: false
    readonly edges?: readonly object[]
    readonly nodes?: readonly string[]
    readonly same?: boolean
  }
}

describe('tables', () => {
  const { cases } = read('tables') as { readonly cases: readonly TableCase[] }

  it.each(cases.map((row) => [row.id, row] as const))('%s', (_, { text, side, want }) => {
    const { flow, findings } = importTable(text, side, { flowId: 'f', title: 't' })
    const told = findings.map(({ level, code, file, line, column, path }) =>
      file === 'side' ? { level, code, path } : { level, code, line, column },
    )
    expect(told).toEqual(want.findings)
    expect(flow !== null).toBe(want.flow !== false)
    if (flow === null) return
    if (want.edges !== undefined) expect(flow.edges).toMatchObject(want.edges)
    if (want.nodes !== undefined)
      expect(flow.nodes.map(({ node_id }) => node_id)).toEqual(want.nodes)
    expect(exportTable(flow) === text).toBe(want.same)
  })

  it('name every code of tables', () => {
    const named = new Set(cases.flatMap(({ want }) => want.findings.map(({ code }) => code)))
    const page = Object.keys(CODES)
    const of = page.slice(page.indexOf('flow.table_text'), page.indexOf('flow.plan_participant'))
    expect(of.filter((code) => !named.has(code))).toEqual([])
  })
})

interface PlanCase {
  readonly id: string
  readonly note: string
  readonly plan: unknown
  readonly participants: unknown
  readonly want: CheckCase['want'] & {
    readonly nodes?: readonly unknown[]
    readonly edges?: readonly unknown[]
  }
}

describe('plans', () => {
  const { cases } = read('plans') as { readonly cases: readonly PlanCase[] }

  it.each(cases.map((row) => [row.id, row] as const))('%s', (_, { plan, participants, want }) => {
    const reading = readParticipants(participants)
    if (!reading.ok) throw new Error(JSON.stringify(reading.violations))
    const { flow, valid, violations, warnings } = loadPlan(plan, reading.participants)
    expect([valid, placesOf(violations), placesOf(warnings)]).toEqual([
      want.valid,
      want.violations,
      want.warnings,
    ])
    if (want.nodes !== undefined)
      expect(flow?.nodes.map((one) => [one.node_id, one.kind, one.target ?? null])).toEqual(
        want.nodes,
      )
    if (want.edges !== undefined)
      expect(
        flow?.edges.map((one) => [
          one.source,
          one.target,
          one.class,
          one.join ?? null,
          one.group_id ?? null,
        ]),
      ).toEqual(want.edges)
  })
})

interface ListCase {
  readonly id: string
  readonly list: unknown
  readonly max?: number
  readonly want: { readonly problem: string; readonly index: number | null } | null
}

describe('lists', () => {
  const { cases } = read('lists') as { readonly cases: readonly ListCase[] }

  it.each(cases.map((row) => [row.id, row] as const))('%s', (_, { list, max, want }) => {
    const fault = listFault(list, max)
    expect(fault === null ? null : { problem: fault.problem, index: fault.index }).toEqual(want)
  })
})

interface MigrationCase extends Pick<CheckCase, 'id' | 'remove' | 'set'> {
  /** The node whose participant is asked when the run is moved. */
  readonly at: string
  readonly want: { readonly obstacles: readonly string[] }
}

describe('migrations', () => {
  const { flow, cases } = read('migrations') as {
    readonly flow: Flow
    readonly cases: readonly MigrationCase[]
  }

  it.each(cases.map((row) => [row.id, row] as const))('%s', (_, { at, remove, set, want }) => {
    const host = new Host(flow, (id, attempt) => ({ stage: `${id} ${attempt}` })).start()
    host.run((command) => command.type === 'run_participant' && command.node_id === at)
    // The cases change the flow in places where it stays one.
    const next = changed(flow, remove, set) as Flow
    const { obstacles } = planMigration(host.state, next)
    expect([...new Set(obstacles.map(({ part }) => part))]).toEqual(want.obstacles)
  })
})
