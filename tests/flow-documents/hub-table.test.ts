/** The original’s shape of a table: what is proposed, what the check tells, and which edges fire. */
import { describe, expect, it } from 'vitest'
import { checkDocument, type Flow } from '../../src/contracts/index.ts'
import { checkFlow, classCounts, importTable, proposeSide } from '../../src/flow/index.ts'
import { Host, type Script } from '../flow-runtime/host.ts'
import { HUB_SIDE, hubTable } from './hub-table.ts'
import { ORIGINAL_COUNTS } from './table.ts'

const OPTIONS = { flowId: 'hub', title: 'A hub' }

function flowOf(side?: unknown): Flow {
  const { flow, findings } = importTable(hubTable(), side, OPTIONS)
  if (flow === null) throw new Error('not read')
  expect(findings).toEqual([])
  return flow
}

/** The user’s side file with the proposals taken. */
function takenSide() {
  return proposeSide(flowOf(HUB_SIDE), HUB_SIDE).side
}

const told = (flow: Flow, code: string) =>
  checkFlow(flow).warnings.flatMap((one) => {
    if (one.code !== code) return []
    const [, list, place] = one.path.split('/')
    return [
      list === 'edges' ? flow.edges[Number(place)]?.edge_id : flow.nodes[Number(place)]?.node_id,
    ]
  })

describe('a table with a shared gate', () => {
  it('has the rows of the original', () => {
    const flow = flowOf()
    expect(flow.edges).toHaveLength(146)
    expect(classCounts(flow.edges)).toEqual(ORIGINAL_COUNTS)
    expect(
      flow.edges.filter(({ class: kind, target }) => kind === 'Gate' && target === 'CLOCK'),
    ).toHaveLength(29)
  })

  it('runs past its gate as it is, and the check says so', () => {
    const flow = flowOf()
    const { violations, warnings } = checkFlow(flow)
    expect(violations).toEqual([])
    expect(told(flow, 'flow.entered_once')).toContain('CLOCK')
    const gate = warnings.find(({ message }) => message.includes('`CLOCK` is entered once'))
    expect(gate?.message).toContain('and 25 more')
    expect(gate?.hint).toContain('`call: true`')
    const host = new Host(flow).start().run()
    // By the first stage, and by a Rollback edge that leads forward.
    expect(host.entered.filter((id) => id === 'CLOCK')).toHaveLength(2)
    expect(host.entered).toContain('S09')
  })

  it('tells which edges never fire, and what to write instead', () => {
    const flow = flowOf()
    expect(told(flow, 'flow.never_fires').sort()).toEqual(NEVER_BARE)
    const { warnings } = checkFlow(flow)
    const bare = warnings.find(({ message }) => message.includes('`CLOCK>RERUN` '))
    expect(bare?.message).toContain('nothing runs at `CLOCK` that could fail')
    expect(bare?.hint).toContain('`kind: CHECK`')
  })

  it('is proposed as calls, REJECT, joins and dispatch', () => {
    const { proposals, side } = proposeSide(flowOf(), {})
    const said = proposals.map((one) => ('node' in one ? one.node : one.edge))
    expect(said).toContainEqual({ node_id: 'CLOCK', call: true })
    expect(said).toContainEqual({ node_id: 'EDITOR', call: true })
    expect(said.filter((one) => 'call' in one)).toHaveLength(2)
    expect(said).toContainEqual({ affected_edge: 'AUDIT>RERUN', on: 'reject' })
    expect(said).toContainEqual({ affected_edge: 'EDITOR>REVISE', on: 'reject' })
    const data = { node_id: 'DATA', kind: 'CHECK', target: 'S21', reviewer: { human: true } }
    expect(said).toContainEqual(data)
    expect(said).toContainEqual({ node_id: 'ASSETS', kind: 'CHECK', reviewer: { human: true } })
    expect(said).toContainEqual({ affected_edge: 'ASSETS>S15', join: 'AND' })
    expect(said).toContainEqual({ affected_edge: 'PAUSE>R1', v2_primary_class: 'Decision' })
    expect(said).toContainEqual({ affected_edge: 'R1>RESUME', v2_primary_class: 'Progress' })
    const back = { affected_edge: 'REVISIT>PAUSE', v2_primary_class: 'Exception', on: 'reject' }
    expect(said).toContainEqual(back)
    for (const { why } of proposals) expect(why).toMatch(/^[a-z0-9].*[^.]$/s)
    expect(checkDocument({ type: 'flow_side_v1', ...side })).toMatchObject({ valid: true })
  })

  it('loses these warnings when the proposals are taken, and is proposed nothing more', () => {
    const flow = flowOf(takenSide())
    expect(checkFlow(flow).violations).toEqual([])
    expect(told(flow, 'flow.way_back')).toEqual([])
    expect(told(flow, 'flow.entered_once')).not.toContain('CLOCK')
    expect(told(flow, 'flow.entered_once')).not.toContain('EDITOR')
    expect(proposeSide(flow, takenSide()).proposals).toEqual([])
  })
})

/** Nodes that nothing runs at cannot fail; of several ways back without a guard the first goes. */
const NEVER_BARE: readonly string[] = [
  'ASSETS>FIX_ASSETS',
  'AUDIT>RERUN',
  'BUILD>ESCALATE',
  'BUILD>RETRY',
  'CLOCK>RERUN',
  'DATA>FIX_DATA',
  'DEFECT>SENT_BACK',
  'DIRECTOR>BAN',
  'EDITOR>REVISE',
  'J1>SENT_BACK',
  'J3>SENT_BACK',
  'PAUSE>R2',
  'PAUSE>R3',
  'PAUSE>R4',
  'RERUN>COMMAND',
  'REVISIT>PAUSE',
  'TIMEOUT>FALLBACK_A',
  'URGENT>BYPASS',
]

/** Each check says No so often, and then Yes. */
function noes(counts: Readonly<Record<string, number>>): Script {
  const left: Record<string, number> = { ...counts }
  return (id) => {
    if (id === 'TIMEOUT') return { outcome: 'failed' }
    const count = left[id] ?? 0
    if (count === 0) return {}
    left[id] = count - 1
    return { score: 40 }
  }
}

describe('the table as its authors mean it', () => {
  const once = {
    CLOCK: 1,
    AUDIT: 1,
    ASSETS: 1,
    EDITOR: 1,
    BUILD: 1,
    DATA: 1,
    DEFECT: 1,
    J2: 1,
    REVISIT: 1,
  }

  it('enters the gate for each of its callers, and runs to its end', () => {
    const host = new Host(flowOf(takenSide()), noes(once)).start().run()
    expect([host.status, host.findings.filter((one) => / block$/.test(one))]).toEqual(['DONE', []])
    const called = host.facts.flatMap((fact) =>
      fact.type === 'flow_event_v1' && fact.payload.kind === 'called' ? [fact.payload.edge_id] : [],
    )
    for (let index = 0; index < 28; index++)
      expect(called).toContain(`S${String(index).padStart(2, '0')}>CLOCK`)
    expect(called).toContain('RESUME>CLOCK')
    host.verify()
  })

  it('fires these edges and no others', () => {
    const flow = flowOf(takenSide())
    const host = new Host(flow, noes(once)).start().run()
    const fired = new Set(host.fired)
    const not = flow.edges.map(({ edge_id }) => edge_id).filter((id) => !fired.has(id))
    expect(not.sort()).toEqual(NOT_TAKEN)
  })

  it('stays at the first stage when the gate always says No', () => {
    const host = new Host(flowOf(takenSide()), (id) => (id === 'CLOCK' ? { score: 10 } : {}))
    host.start().run()
    expect(host.status).toBe('WAITING')
    expect(host.entered.filter((id) => /^S\d\d$/.test(id))).toEqual(['S00'])
  })
})

/** What is drawn only, and the other side of each question. */
const META = ['ANY>ISSUES', 'NOTE>S00', 'RERUN>COMMAND', 'S24>S25']
const OTHER_SIDE = [
  ...['CHOICE>PAUSE', 'REVISIT>GOING', 'J2>PART_PASS', 'PART_PASS>S25', 'S10>URGENT'],
  ...['URGENT>DISPATCH', 'URGENT>BYPASS', 'BYPASS>S10', 'J1>SENT_BACK', 'J3>SENT_BACK'],
  ...['BUILD>ESCALATE', 'ESCALATE>BUILD', 'DIRECTOR>BAN'],
]
const NOT_TAKEN: readonly string[] = [
  ...META,
  ...Array.from({ length: 7 }, (_, index) => `T${index + 1}>IDEA`),
  ...OTHER_SIDE,
  ...['R1', 'R3', 'R4'].flatMap((id) => [`PAUSE>${id}`, `${id}>RESUME`]),
].sort()

it('proposes the node before a check as its target if the No leads back there', () => {
  const rows = [
    'edge_id,source,target,label,v2_primary_class',
    'E1,DRAFT,REVIEW,,Progress',
    'E2,REVIEW,DRAFT,No,Exception',
    'E3,REVIEW,END,Yes,Progress',
  ]
  const { flow } = importTable(`${rows.join('\n')}\n`, undefined, OPTIONS)
  if (flow === null) throw new Error('not read')
  const reviewer = { human: true }
  expect(proposeSide(flow, {}).side.nodes).toEqual([
    { node_id: 'REVIEW', kind: 'CHECK', target: 'DRAFT', reviewer },
  ])
})
