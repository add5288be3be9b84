/**
 * Answers with a passkey that are longer than a fact may be, so that their payload is kept by reference
 * (W-3): their assertions are checked like those of short ones, here and in a bundle.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Confirmation, judge } from '../../src/contracts/index.ts'
import { findContract } from '../../src/contracts/registry.ts'
import {
  formatVerifierKey,
  HOST_STREAM,
  homeCheckpointText,
  MAIN_STREAM,
  type StreamHead,
} from '../../src/ledger/index.ts'
import {
  createLedger,
  exportBundle,
  type Ledger,
  openKeys,
  openLedger,
  openLedgerReader,
  publicKeyOf,
  verifyLedger,
} from '../../src/store/index.ts'
import { verifyBundle } from '../verifier/verify.mjs'
import { ANN } from './entries.ts'
import { SoftwarePasskey } from './software-passkey.ts'
import { NAME, scratch } from './test-ledger.ts'

const ID = '8f4d0c9e-6f0e-4b43-9f0a-3a1c2e5d7b11'
/** So many other streams in the checkpoint that a human signs make an answer longer than a fact. */
const LONG = 400

let place: ReturnType<typeof scratch>
let directory: string
let ledger: Ledger
let passkey: SoftwarePasskey

beforeEach(async () => {
  place = scratch()
  directory = join(place.directory, 'state')
  passkey = new SoftwarePasskey()
  await createLedger({ directory }, NAME, { principal: ANN, source: 'test' })
  ledger = await openLedger({ directory })
  const change = {
    change: 'passkey_added',
    principal: ANN,
    passkey: passkey.passkey,
    proven_by: 'passphrase',
  }
  await record(HOST_STREAM, 'principal_v1', change)
})

afterEach(async () => {
  await ledger.close()
  place.remove()
})

async function record(stream: string, type: string, payload: unknown): Promise<void> {
  const told = await ledger.record({
    stream,
    source: 'test',
    principal: ANN,
    record: { type, payload },
  })
  if (!told.ok) throw new Error(JSON.stringify(told.violations))
}

async function answer(
  streams: number,
  isForged = false,
  heads?: readonly StreamHead[],
): Promise<Confirmation> {
  const own = homeCheckpointText(NAME, heads ?? (await ledger.store.heads()))
  if (own === null) throw new Error('no checkpoint')
  const line = (at: number) => `farm-${at} 1 ${'A'.repeat(43)}=\n`
  const checkpoint = `${own}${Array.from({ length: streams }, (_, at) => line(at)).join('')}`
  const common = {
    answer: 'APPROVED' as const,
    proposal_digest: `sha256:${'a'.repeat(64)}`,
    result_digest: `sha256:${'b'.repeat(64)}`,
    asked_at: '2026-11-15T08:00:03.000Z',
  }
  const assertion = passkey.sign(
    {
      type: 'approval_challenge_v1',
      question: ID,
      ...common,
      by: `human:${ANN.id}@${ANN.namespace}`,
      moment: '2026-11-15T08:00:50.000Z',
      checkpoint,
    },
    1,
  )
  const forged = { ...assertion, signature: `${assertion.signature.slice(0, -6)}AAAAAA` }
  const payload: Confirmation = {
    action_id: ID,
    ...common,
    assurance: 'passkey',
    level: 'seatbelt',
    answered_at: '2026-11-15T08:01:00.000Z',
    expires_at: '2026-11-16T08:00:03.000Z',
    assertion: isForged ? forged : assertion,
  }
  const contract = findContract('confirmation_v1')
  if (contract === null) throw new Error('no contract')
  expect(judge(contract, payload).violations).toEqual([])
  return payload
}

const verified = async () => (await verifyLedger({ directory }, { contracts: true })).problems
const bundled = async (name: string) => {
  const reader = openLedgerReader({ directory })
  const bundle = join(place.directory, name)
  await exportBundle(reader, bundle, { stream: MAIN_STREAM, bodies: false })
  await reader.close()
  const key = openKeys(join(directory, 'keys')).current()
  return verifyBundle(bundle, {
    keys: [formatVerifierKey(publicKeyOf(key, `${NAME}/${MAIN_STREAM}`))],
  })
}

describe.each([
  ['in the fact', 0],
  ['kept by reference', LONG],
])('an answer %s', (_where, streams) => {
  it('holds when its passkey signed it', async () => {
    await record(MAIN_STREAM, 'confirmation_v1', await answer(streams))
    expect(await verified()).toEqual([])
    expect(await bundled('good')).toMatchObject({ ok: true, problems: [] })
  })

  it('is found out when its passkey did not', async () => {
    await record(MAIN_STREAM, 'confirmation_v1', await answer(streams, true))
    expect((await verified()).map(({ code }) => code)).toEqual(['ledger.assertion'])
    expect((await bundled('forged')).problems).toEqual([
      expect.stringContaining('not signed by its key'),
    ])
  })
})

describe('an answer whose payload is gone', () => {
  it('proves nothing, even if a fact says that it was dropped', async () => {
    await record(MAIN_STREAM, 'confirmation_v1', await answer(LONG, true))
    const [fact] = await ledger.store.read(MAIN_STREAM, 0, 1)
    const { record: kept } = JSON.parse(fact?.text ?? '{}')
    const digest: string = kept.payload_ref
    await record(HOST_STREAM, 'body_dropped_v1', {
      body: digest,
      dropped_at: '2026-11-16T08:00:00.000Z',
      rule: 'purge',
      bytes: kept.bytes,
    })
    const hex = digest.slice('sha256:'.length)
    rmSync(join(directory, 'objects', hex.slice(0, 2), hex.slice(2)))
    expect((await verified()).map(({ code }) => code)).toEqual(['ledger.assertion'])
  })
})

describe('the history that a human signed for', () => {
  const wrongs = async () => (await verified()).map(({ code, message }) => [code, message])
  const signs = async (stream: string, change: (head: StreamHead) => StreamHead) => {
    await record(MAIN_STREAM, 'confirmation_v1', await answer(0))
    const heads = await ledger.store.heads()
    const signed = heads.map((head) => (head.stream === stream ? change(head) : head))
    await record(MAIN_STREAM, 'confirmation_v1', await answer(0, false, signed))
  }

  it('is the one before the fact', async () => {
    await signs(MAIN_STREAM, (head) => head)
    expect(await wrongs()).toEqual([])
  })

  it.each([MAIN_STREAM, HOST_STREAM])(
    'is found out where %s was another, though the passkey signed it',
    async (stream) => {
      await signs(stream, (head) => ({ ...head, root: new Uint8Array(32).fill(7) }))
      const words = expect.stringContaining(`another history of ${stream}, `)
      expect(await wrongs()).toEqual([['ledger.assertion', words]])
      if (stream !== MAIN_STREAM) return
      expect((await bundled('other')).problems).toEqual([
        expect.stringContaining('another history'),
      ])
    },
  )

  it('cannot be longer than what came before', async () => {
    await signs(MAIN_STREAM, (head) => ({ ...head, size: head.size + 1 }))
    const words = expect.stringContaining('another history')
    expect(await wrongs()).toEqual([['ledger.assertion', words]])
  })
})
