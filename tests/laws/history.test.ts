/** Laws tried on a real history, decisions explained, overrides with their ends. */
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Ended, type Json, Place } from '../cli-gate/place.ts'
import { again, commandProposal } from '../gate/document.ts'

vi.setConfig({ testTimeout: 120_000 })

const LAWS = `laws:
  - policy_id: NO_NOTES
    tier: 1
    policy_expr: deletes('work/notes/**')
    priority: 90
    conflicts_with: [NOTED]
    override_mode: hard_override
    violation_action: block
  - policy_id: NOTED
    tier: 1
    policy_expr: touches('work/notes/**')
    priority: 10
    override_mode: merge
    violation_action: alert
  - policy_id: NO_HUGE
    tier: 1
    policy_expr: descriptor.resources.max_memory_mb > 1000
    priority: 80
    override_mode: merge
    violation_action: block
  - policy_id: NEVER_KEYS
    tier: 0
    policy_expr: touches('work/keys/**')
    priority: 99
    override_mode: merge
    violation_action: block
`

let place: Place
/** By what it was about. */
const ids: Record<string, string> = {}

function propose(proposal: Json): Ended {
  return place.writ(['propose', '-', '--json'], { input: JSON.stringify(proposal) })
}

const NOTES = (): Json =>
  commandProposal(place, 'rm -f notes/a.txt', { remove: ['work/notes/a.txt'] })

beforeAll(() => {
  place = new Place('laws', { runs: 'warm' }).init()
  for (const name of ['notes/a.txt', 'keys/k', 'x.txt']) place.write(`work/${name}`)
  place.write('.writ/laws.yaml', LAWS)
  expect(place.writ(['laws', 'accept', '--yes']).status).toBe(0)
  const plain = propose(commandProposal(place, 'echo y > x.txt', { modify: ['work/x.txt'] }))
  const notes = propose(NOTES())
  const keys = propose(commandProposal(place, 'echo z > keys/k', { modify: ['work/keys/k'] }))
  const huge = propose(
    commandProposal(place, 'echo z > x.txt', {
      modify: ['work/x.txt'],
      resources: { max_memory_mb: 2000 },
    }),
  )
  const broken = propose({ ...NOTES(), operation: { type: 'NOTHING' } })
  for (const [name, { json }] of Object.entries({ plain, notes, keys, huge, broken })) {
    ids[name] = json.action_id
  }
  expect([plain, notes, keys, huge].map(({ json }) => json.decision.code)).toEqual([
    'promote.ok',
    'law.NO_NOTES',
    'law.NEVER_KEYS',
    'law.NO_HUGE',
  ])
}, 180_000)

afterAll(() => place?.remove())

function test(laws: string, ...options: string[]): Ended {
  const file = place.write('trial.yaml', laws)
  return place.writ(['laws', 'test', file, '--json', ...options])
}

const law = (id: string, expression: string, more = 'tier: 2, violation_action: confirm'): string =>
  `laws: [{ policy_id: ${id}, policy_expr: "${expression}", priority: 1, override_mode: merge, ${more} }]\n`

describe('laws test', () => {
  it('says nothing about laws that decide as those did', () => {
    const { status, json } = test(LAWS)
    expect(status, JSON.stringify(json)).toBe(0)
    expect(json).toMatchObject({ proposals: 5, changed: [], unjudgeable: [] })
    expect(json.laws).toContainEqual({ policy_id: 'NO_NOTES', broken: 1 })
    expect(json.laws).toContainEqual({ policy_id: 'NO_HUGE', broken: 1 })
  })

  it('tells what would be stricter and milder, and the law that makes it so', () => {
    const { json } = test(law('ASK_X', "modifies('work/x.txt')"))
    expect(json.changed).toEqual([
      { action_id: ids['plain'], from: 'PROMOTE', to: 'CONFIRM', policy_id: 'ASK_X' },
      { action_id: ids['notes'], from: 'BLOCK', to: 'PROMOTE', policy_id: 'NO_NOTES' },
      { action_id: ids['keys'], from: 'BLOCK', to: 'PROMOTE', policy_id: 'NEVER_KEYS' },
    ])
    // It was refused before it could be rehearsed, so its effects are unknown.
    expect(json.unjudgeable).toEqual([
      { action_id: ids['huge'], reason: 'it was refused before it was rehearsed' },
    ])
    expect(json.proposals).toBe(5)
  })

  it('tries settings and lists of the file as well', () => {
    const { json } = test(`laws: []\nsettings: { ceilings: { max_memory_mb: 256 } }\n`)
    expect(json.changed).toEqual([
      { action_id: ids['plain'], from: 'PROMOTE', to: 'BLOCK', policy_id: null },
    ])
  })

  it('takes the file of the home before a human accepts it', () => {
    place.write(
      '.writ/laws.yaml',
      law('NO_X', "touches('work/x.txt')", 'tier: 1, violation_action: block'),
    )
    const { status, json } = place.writ(['laws', 'test', '--json'])
    place.write('.writ/laws.yaml', LAWS)
    expect(status).toBe(0)
    expect(json.changed[0]).toMatchObject({ to: 'BLOCK', policy_id: 'NO_X' })
  })

  it('shows a table to a person', () => {
    const file = place.write('trial.yaml', law('ASK_X', "modifies('work/x.txt')"))
    const { out } = place.writ(['laws', 'test', file])
    expect(out).toContain('4 of 5 past proposals judged, 3 would be decided otherwise')
    expect(out).toMatch(new RegExp(`${ids['plain']?.slice(0, 13)} +PROMOTE +CONFIRM +ASK_X`))
    expect(out).toContain('Cannot be judged')
  })

  it('refuses a file with faults, and reads only what came since', () => {
    const bad = test(law('X', 'descriptor.rsik_level'))
    expect(bad).toMatchObject({ status: 1, json: { error: { code: 'laws.unusable' } } })
    expect(bad.json.error.message).toContain('line 1')
    expect(test(LAWS, '--since', '2099-01-01').json.proposals).toBe(0)
  })
})

describe('laws explain', () => {
  function explain(id: string | undefined): Json {
    const { status, json, err } = place.writ(['laws', 'explain', id ?? '', '--json'])
    expect(status, err).toBe(0)
    return json
  }

  it('names the law, its text and the values that decided, and who was silenced', () => {
    const json = explain(ids['notes'])
    expect(json).toMatchObject({ decision: 'BLOCK', code: 'law.NO_NOTES', missing: null })
    expect(json.laws).toMatchObject([
      {
        policy_id: 'NO_NOTES',
        state: 'broken',
        policy_expr: "deletes('work/notes/**')",
        deciding: [{ value: true, witness: join(place.project, 'work', 'notes', 'a.txt') }],
        overridden_by: null,
      },
      { policy_id: 'NOTED', state: 'silenced', silenced_by: 'NO_NOTES' },
    ])
    expect(json.conflicts).toEqual([
      { winner: 'NO_NOTES', losers: ['NOTED'], mode: 'hard_override' },
    ])
    expect(json.human).toMatchObject([{ can: 'override' }])
    expect(json.human[0].command).toContain(`--law NO_NOTES --action ${ids['notes']}`)
  })

  it('says that a law of tier 0 cannot be set aside', () => {
    const json = explain(ids['keys'])
    expect(json.human).toMatchObject([{ can: 'none' }])
    expect(json.human[0].says).toContain('NEVER_KEYS')
  })

  it('explains a document that was refused before any law', () => {
    const json = explain(ids['broken'])
    expect(json).toMatchObject({ decision: 'BLOCK', laws: [] })
    expect(json.reasons[0].says).not.toBe('')
    expect(json.human[0].can).toBe('correct')
  })

  it('says how a promoted act is taken back', () => {
    expect(explain(ids['plain']).human).toMatchObject([
      { can: 'roll_back', command: `writ rollback ${ids['plain']}` },
    ])
  })

  it('tells it to a person', () => {
    const { out } = place.writ(['laws', 'explain', ids['notes'] ?? ''])
    expect(out).toContain('refused')
    expect(out).toContain("deletes('work/notes/**')")
    expect(out).toContain('NOTED (tier 1, alert) was silenced')
    expect(out).toContain('NO_NOTES silences NOTED')
    expect(out).toContain('What a human can do')
  })

  it('knows nothing about an action that was never decided', () => {
    const id = '11111111-1111-4111-8111-111111111111'
    expect(place.writ(['laws', 'explain', id, '--json'])).toMatchObject({
      status: 1,
      json: { error: { code: 'history.unknown' } },
    })
  })
})

describe('an override', () => {
  it('is refused for laws that cannot be set aside', () => {
    const order = (name: string): Ended =>
      place.writ(['override', '--law', name, '--for', '5m', '--reason', 'x', '--json'])
    expect(order('NEVER_KEYS').json.error.code).toBe('override.tier')
    expect(order('NO_NOTE').json.error).toMatchObject({
      code: 'override.unknown_law',
      hint: expect.stringContaining('NO_NOTES'),
    })
  })

  it('lets the intent through once, is explained, and is then used up', () => {
    const given = place.writ([
      'override',
      '--law',
      'NO_NOTES',
      '--action',
      ids['notes'] ?? '',
      '--reason',
      'a clean-up',
      '--json',
    ])
    expect(given, given.out + given.err).toMatchObject({ status: 0, json: { ok: true } })
    const other = commandProposal(place, 'rm -f notes/a.txt; true', {
      remove: ['work/notes/a.txt'],
    })
    // Another operation is another intent.
    expect(propose(other).json.decision.code).toBe('law.NO_NOTES')
    const intent = NOTES()
    const first = propose(intent)
    expect(first.json, JSON.stringify(first.json)).toMatchObject({ promoted: true })
    const { json } = place.writ(['laws', 'explain', first.json.action_id, '--json'])
    expect(json.laws[0]).toMatchObject({
      policy_id: 'NO_NOTES',
      overridden_by: { by: 'human:ann@local', reason: 'a clean-up', uses: 1 },
    })
    place.write('work/notes/a.txt')
    expect(propose(again(intent)).json.decision.code).toBe('law.NO_NOTES')
  })

  it('and everything before it is computed again alike', () => {
    const { status, json } = place.writ(['replay', '--json'])
    expect(json.differences).toEqual([])
    expect(json.not_replayed).toEqual([])
    expect(status).toBe(0)
    expect(json.checked).toBeGreaterThanOrEqual(8)
  })
})

describe('what is no longer kept', () => {
  it('is counted and named by a trial, reported by an explanation, and unreplayable', () => {
    const state = join(place.folder, 'state', 'writ')
    const [home = ''] = readdirSync(state).filter((name) => /^[0-9a-f-]{36}$/.test(name))
    const objects = join(state, home, 'objects')
    const { json: shown } = place.writ(['log', '--type', 'proposal_v1', '--json'])
    const { record } = shown.facts.find(
      (fact: Json) => fact.record.payload.descriptor.action_id === ids['notes'],
    )
    const hex = record.original.body.slice('sha256:'.length)
    rmSync(join(objects, hex.slice(0, 2), hex.slice(2)))
    const tried = test(LAWS)
    expect(tried.status).toBe(0)
    expect(tried.json.unjudgeable).toEqual([
      { action_id: ids['notes'], reason: 'the proposal is no longer kept' },
    ])
    const { json } = place.writ(['laws', 'explain', ids['notes'] ?? '', '--json'])
    expect(json).toMatchObject({ missing: 'the proposal is no longer kept', decision: 'BLOCK' })
    expect(json.laws[0]).toMatchObject({ policy_id: 'NO_NOTES', deciding: null })
    const replayed = place.writ(['replay', '--json'])
    expect(replayed).toMatchObject({
      status: 1,
      json: { ok: false, missing: [record.original.body] },
    })
    expect(replayed.json.not_replayed).toMatchObject([{ code: 'replay.unreplayable' }])
  })
})

it('laws that cannot be judged by are not registered', () => {
  const other = new Place('laws-broken', { runs: 'warm' }).init()
  try {
    other.write('.writ/laws.yaml', `${LAWS}settings: { confirmation_minutes: 0 }\n`)
    const { status, err } = other.writ(['laws', 'accept', '--yes'])
    expect(status).toBe(1)
    expect(err).toMatch(/^laws\.unusable: .*laws\.yaml` at line \d+, column \d+/)
    expect(other.writ(['trust']).status).toBe(1)
  } finally {
    other.remove()
  }
})
