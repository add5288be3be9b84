/** Which bodies may go: also screenshots, which a result names by their contents alone. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { digestBytes, digestDocument } from '../../base/index.ts'
import type { Proposal, SandboxResult } from '../../contracts/index.ts'
import { type Actor, createLedger, type Ledger, openLedger } from '../../store/ledger/ledger.ts'
import { LedgerView } from '../records/ledger-view.ts'
import type { GateContext } from '../surface/context.ts'
import { BODY_KINDS, type BodySearch, searchBodies } from './body-search.ts'

const ANN = { kind: 'human', id: 'ann', namespace: 'local' } as const
const ACTOR: Actor = { principal: ANN, source: 'cli' }
const SCREEN = new TextEncoder().encode('a picture')
const { bases } = JSON.parse(readFileSync('spec/vectors/gate/decision.json', 'utf8'))

let folder = ''
let ledger: Ledger
let context: GateContext
let view: LedgerView

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'writ-body-search-'))
  await createLedger({ directory: folder }, 'example.org/writ/test', ACTOR)
  ledger = await openLedger({ directory: folder })
  const caller = { principal: ANN, streams: null, proof: 'none' }
  context = { ledger, caller, stream: 'main' } as unknown as GateContext
  view = new LedgerView(context, { confirmationMs: 1, cooldownMs: 1 })
})

afterEach(async () => {
  await ledger.close()
  rmSync(folder, { recursive: true, force: true })
})

async function search(more: Partial<BodySearch> = {}) {
  const wanted = { kinds: new Set(BODY_KINDS), before: null, action: null, behind: -1, ...more }
  return searchBodies(context, await view.standing(), wanted, Date.parse('2026-11-16T00:00:00Z'))
}

/** Where the proposal of the vectors leaves its screenshot. */
const FILE = '/home/ann/shop/a.png'

/** An act that left a picture. */
async function recordScreenshot(id: string): Promise<void> {
  const { ui } = JSON.parse(readFileSync('spec/vectors/contracts/proposal.json', 'utf8')).bases
  const proposal: Proposal = { ...ui, descriptor: { ...ui.descriptor, action_id: id } }
  const digest = digestBytes(SCREEN)
  await ledger.objects.put({ digest, bytes: SCREEN })
  const picture = {
    path: FILE,
    kind: 'file',
    mode: '0644',
    size: 9,
    after: digest,
    class: 'staged',
  }
  const manifest = new TextEncoder().encode(`${id}\n`)
  await ledger.objects.put({ digest: digestBytes(manifest), bytes: manifest })
  const result: SandboxResult = {
    ...bases.result,
    action_id: id,
    proposal_digest: digestDocument(proposal),
    outputs: { stdout: 'printed', stderr: '', truncated: false },
    diff: {
      counts: { added: 1, modified: 0, deleted: 0 },
      bytes: 9,
      manifest: digestBytes(manifest),
      added: [picture],
      modified: [],
      deleted: [],
    },
    findings: [],
  }
  await view.record([
    { type: 'proposal_v1', payload: proposal, key: `proposal/${id}` },
    { type: 'sandbox_result_v1', payload: result, key: `result/${id}` },
  ])
}

const IDS = [
  '11111111-1111-4111-8111-111111111111',
  '22222222-2222-4222-8222-222222222222',
] as const

it('finds every kind of body of an act', async () => {
  await recordScreenshot(IDS[0])
  const { found, kept } = await search()
  expect(found.map(({ kind }) => kind).toSorted()).toEqual([...BODY_KINDS].toSorted())
  expect(found.find(({ kind }) => kind === 'evidence')).toMatchObject({
    body: digestBytes(SCREEN),
    bytes: SCREEN.length,
  })
  expect(kept).toEqual([])
})

it('finds nothing of what is gone already, and only the kinds that were asked for', async () => {
  await recordScreenshot(IDS[0])
  await ledger.objects.drop(digestBytes(SCREEN))
  expect((await search()).found.map(({ kind }) => kind)).not.toContain('evidence')
  const outputs = await search({ kinds: new Set(['output']) })
  expect(outputs.found.map(({ kind }) => kind)).toEqual(['output'])
})

/** Returns the record of a participant's output, in a run or while a flow was planned. */
function output(run_id: string, seq: number) {
  const head = { run_id, seq, at: '2026-11-15T08:00:00.000Z' }
  const payload = { ...head, nonce: 'n', node_id: 'a', command: 1, raw: 'said', answer: null }
  return {
    type: 'participant_output_v1',
    payload: { ...payload, repairs: [], errors: ['no JSON'] },
    key: `flow/${run_id}/${seq}`,
  }
}

it('keeps what an open run heard; one that ended, and what planning heard, may go', async () => {
  const [run, plan] = ['run-1', 'plan-1']
  const head = { run_id: run, at: '2026-11-15T08:00:00.000Z' }
  const started = {
    type: 'flow_started_v1',
    payload: { ...head, seq: 0, flow_id: 'f', flow_digest: digestBytes('f'), nonce: 'n' },
    key: `flow/${run}/0`,
  }
  await view.record([started, output(run, 1), output(plan, 0)])
  const open = await search()
  expect(open.found.map(({ run_id }) => run_id)).toEqual([plan])
  expect(open.kept).toEqual([{ action_id: null, run_id: run, reason: 'its run has not ended' }])
  const payload = { ...head, seq: 2, kind: 'ended', status: 'DONE' }
  await view.record([{ type: 'flow_event_v1', payload, key: `flow/${run}/2` }])
  const ended = await search()
  expect(ended.found.map(({ run_id }) => run_id).toSorted()).toEqual([plan, run])
  expect(ended.kept).toEqual([])
})
