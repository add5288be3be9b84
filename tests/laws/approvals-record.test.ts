/**
 * What is on the record of several approvals: asked again when other files changed, never promoted by a
 * signature that is not the human's, finished after a kill, and told apart by replay.
 */

import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Principal } from '../../src/ledger/index.ts'
import { openLedger } from '../../src/store/index.ts'
import { script, TOOL } from '../flow-run/scripts.ts'
import { commandProposal } from '../gate/document.ts'
import { programFile, runProgram } from '../ledger/program.ts'
import type { ApprovingOrder } from './approving.ts'
import { type Human, Humans, severalLaw, WORDS } from './humans.ts'

vi.setConfig({ testTimeout: 240_000 })

let humans: Humans

beforeEach(() => {
  humans = new Humans('approvals-record').laws(severalLaw('prod/**', 'TWO_HUMANS', 2)).add('bob')
}, 120_000)

afterEach(() => humans?.remove())

const BOB = { kind: 'human', id: 'bob', namespace: 'local' } as const

/** Records a fact as an attacker who can write the ledger but has no passphrase. */
async function forge(type: string, payload: object, principal: Principal = BOB): Promise<void> {
  const root = join(humans.place.folder, 'state', 'writ')
  const [name = ''] = readdirSync(root).filter((one) => !one.endsWith('.json'))
  const directory = join(root, name)
  const ledger = await openLedger({ directory })
  try {
    const record = { type, payload }
    const entry = { stream: 'main', source: 'gate', principal, record }
    expect((await ledger.record(entry)).ok).toBe(true)
  } finally {
    await ledger.close()
  }
}

function newest(type: string, actionId: string) {
  const { facts } = humans.place.writ(['show', actionId, '--json']).json
  return facts.findLast(({ record }: { record: { type: string } }) => record.type === type).record
    .payload
}

async function approving(who: Human, id: string, more: Partial<ApprovingOrder> = {}) {
  const { place } = humans
  const watcher = pathToFileURL(await programFile('src/sandbox/supervision/watch.worker.ts')).href
  const order: ApprovingOrder = {
    project: place.project,
    state: join(place.folder, 'state'),
    home: place.home,
    watcher,
    who,
    passphrase: WORDS[who],
    id,
    ...more,
  }
  const { lines, signal, errors } = await runProgram('tests/laws/approving.program.ts', order)
  return { signal, errors, said: lines.length === 0 ? null : JSON.parse(lines[0] ?? '') }
}

it('a declared input that changed is asked of everybody again, and the time of the first holds', () => {
  const { place } = humans
  place.write('other.txt')
  place.write('work/x')
  const wanted = { scope: [place.project], create: ['prod/**'], pathsExist: ['other.txt'] }
  const proposal = commandProposal(place, 'mkdir -p ../prod; echo x > ../prod/one', wanted)
  const asked = place.writ(['propose', '-'], { input: JSON.stringify(proposal) })
  expect(asked.status, asked.out + asked.err).toBe(3)
  const { id } = place.pending().at(-1)
  const [{ expires_at: until }] = place.pending()
  expect(humans.as('ann', ['approve', id]).status).toBe(3)
  place.write('other.txt', 'changed by somebody else\n')
  const again = humans.as('bob', ['approve', id, '--json'])
  expect(again.status, again.out + again.err).toBe(3)
  expect(again.json).toMatchObject({
    promoted: false,
    pending: { expires_at: until, approvals: { needed: 2, given: [] } },
  })
  expect(again.json.decision.codes).toContain('promote.inputs_changed')
  expect(humans.as('bob', ['approve', id]).status).toBe(3)
  expect(place.has('prod/one')).toBe(false)
  expect(humans.as('ann', ['approve', id]).status).toBe(0)
  expect(place.has('prod/one')).toBe(true)
  expect(place.writ(['replay', '--json']).json).toMatchObject({ ok: true, not_replayed: [] })
})

it('a signature for another proposal, result or asking is refused', async () => {
  const { id } = humans.ask('prod/one')
  for (const signed of [
    { proposalDigest: `sha256:${'0'.repeat(64)}` },
    { resultDigest: `sha256:${'0'.repeat(64)}` },
    { askedAt: '2026-01-01T00:00:00.000Z' },
  ]) {
    const { said } = await approving('ann', id, { signed })
    expect(said.fault, JSON.stringify(said)).toMatchObject({ code: 'confirm.own_credential' })
  }
  expect(humans.place.pending()[0].approvals.given).toEqual([])
})

it('a confirmation that no human signed promotes nothing, and replay counts it for nothing', async () => {
  const { place } = humans
  const { id, actionId } = humans.ask('prod/one')
  expect(humans.as('ann', ['approve', id]).status).toBe(3)
  const real = newest('confirmation_v1', actionId)
  const { json } = place.writ(['principal', 'list', '--json'])
  expect(json.principals).toHaveLength(2)
  await forge('confirmation_v1', {
    ...real,
    proof: { ...real.proof, key: `${'A'.repeat(43)}=` },
  })
  expect(place.has('prod/one')).toBe(false)
  const result = newest('sandbox_result_v1', actionId)
  const moment = new Date().toISOString()
  await forge('promotion_v1', {
    action_id: actionId,
    proposal_digest: real.proposal_digest,
    result_digest: real.result_digest,
    manifest: result.diff.manifest,
    status: 'APPLIED',
    paths: 1,
    bytes: 2,
    snapshot_digest: `sha256:${'0'.repeat(64)}`,
    window_ms: 1,
    undo_until: moment,
    promoted_at: moment,
    recovered: false,
  })
  const replay = place.writ(['replay', '--json'])
  expect(replay.status).toBe(1)
  expect(replay.json).toMatchObject({
    ok: false,
    differences: [{ recorded: { approvals: 2 }, computed: { approvals: 1 } }],
  })
})

it('a forged approval in front of a real one does not make two', async () => {
  const { place } = humans
  const { id, actionId } = humans.ask('prod/one')
  const asked = newest('decision_v1', actionId)
  await forge('confirmation_v1', {
    action_id: actionId,
    proposal_digest: asked.proposal_digest,
    result_digest: asked.result_digest,
    answer: 'APPROVED',
    assurance: 'passphrase',
    level: 'seatbelt',
    asked_at: asked.decided_at,
    answered_at: asked.decided_at,
    expires_at: place.pending()[0].expires_at,
    proof: { key: `${'A'.repeat(43)}=`, signature: `${'A'.repeat(86)}==` },
  })
  const ended = humans.as('ann', ['approve', id, '--json'])
  expect(ended.json.promoted, ended.out).toBe(false)
  expect(place.has('prod/one')).toBe(false)
})

const FLOW = {
  type: 'flow_v1',
  flow_id: 'f',
  title: 'F',
  nodes: [
    {
      node_id: 'a',
      kind: 'WORK',
      title: '',
      phase_id: 'P1',
      actor: 'a',
      max_attempts: 1,
      executor: { command: ['node', 'a.mjs'] },
    },
  ],
  edges: [],
}
const WORK = `${TOOL}mkdirSync('prod'); writeFileSync('prod/made', 'made')
answer({ result_type: 'ARTIFACT', artifact: { name: 'out', format: 'md', content: 'made' } })`

it('effects of a flow wait for both, and a kill behind the last yes loses nothing', async () => {
  const { place } = humans.add('cid')
  writeFileSync(join(place.project, 'a.mjs'), script(WORK))
  writeFileSync(join(place.project, 'flow.json'), JSON.stringify(FLOW))
  const begun = place.writ(['flow', 'run', 'flow.json', '--json'])
  expect([begun.status, begun.json.status]).toEqual([3, 'WAITING'])
  const { run_id } = begun.json
  const [{ id, approvals, action_id }] = place.pending()
  expect(approvals).toEqual({ needed: 2, given: [] })
  // Ann started the run: hers is no one of several.
  const own = humans.as('ann', ['approve', id, '--json'])
  expect([own.status, own.json.error.code]).toEqual([1, 'confirm.own_run'])
  expect(place.pending()[0].approvals.given).toEqual([])
  expect(humans.as('cid', ['approve', id]).status).toBe(3)
  const between = place.writ(['flow', 'resume', run_id, '--json'])
  expect([between.status, between.json.status]).toEqual([3, 'WAITING'])
  expect(place.pending()[0].approvals.given).toMatchObject([{ by: 'human:cid@local' }])
  const { signal, said, errors } = await approving('bob', id, { killAt: 'plan' })
  expect([signal, said], errors).toEqual(['SIGKILL', null])
  expect(place.has('prod/made')).toBe(false)
  expect(place.writ(['show', action_id, '--json']).json.approvals.given).toHaveLength(2)
  const done = place.writ(['flow', 'resume', run_id, '--json'])
  expect([done.status, done.json.status], done.out + done.err).toEqual([0, 'DONE'])
  expect(place.text('prod/made')).toBe('made')
  expect(place.writ(['replay', '--json']).json).toMatchObject({ ok: true, not_replayed: [] })
})
