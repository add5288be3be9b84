/** Bodies that are dropped: by a human's word, by their time, and never what is still needed. */
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Ended, type Json, Place } from '../cli-gate/place.ts'
import { commandProposal, operationProposal } from '../gate/document.ts'

vi.setConfig({ testTimeout: 120_000 })

const WORDS = 'correct horse battery staple'
const SECRET = 'qWertZ-secret-77'
let place: Place

beforeAll(() => {
  place = new Place('purge', { runs: 'warm' }).init(WORDS)
  place.write('work/a.txt')
}, 180_000)

afterAll(() => place?.remove())

function purge(...args: string[]): Ended {
  return place.writ(['purge', ...args, '--json', '--pass-fd', '3'], { passphrase: WORDS })
}

function propose(proposal: Json): Json {
  const { json } = place.writ(['propose', '-', '--json'], { input: JSON.stringify(proposal) })
  return json
}

function facts(type: string): Json[] {
  return place.writ(['log', '--type', type, '--json']).json.facts
}

/** Every file below the state that holds the secret. */
function holders(): readonly string[] {
  const root = join(place.folder, 'state')
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => readFileSync(file).includes(SECRET))
}

describe('what is written down', () => {
  it('holds outputs, contents, inputs and values of variables in bodies alone', () => {
    const file = join(place.project, 'work/secret.txt')
    const written = propose(
      operationProposal(
        place,
        { type: 'FILE_WRITE', path: file, content: SECRET },
        { create: ['work/secret.txt'] },
      ),
    )
    expect(written).toMatchObject({ promoted: true })
    const command = commandProposal(place, 'cat; echo "$PART"', {})
    command.operation.env = { PART: SECRET }
    command.operation.stdin = SECRET
    const ran = propose(command)
    expect(ran.decision.decision, JSON.stringify(ran.decision)).toBe('PROMOTE')
    const page = `https://shop.example/cart?session=${SECRET}#${SECRET}`
    const steps = [{ action: 'goto', url: page }]
    const drive = operationProposal(place, { type: 'UI_AUTOMATION', start_url: page, steps }, {})
    drive.descriptor.scope.ui.required = true
    drive.descriptor.scope.network = { required: true, hosts: ['shop.example'] }
    drive.descriptor.effects.network = true
    drive.descriptor.sandbox.allow_network = true
    // It is on the record, also if it is refused.
    const { action_id } = propose(drive)
    const [recorded] = facts('proposal_v1').filter(
      ({ record }) => record.payload.descriptor.action_id === action_id,
    )
    expect(recorded.record.payload.operation).toMatchObject({ start_url: 'redacted' })
    const found = holders()
    expect(found.length).toBeGreaterThan(0)
    for (const holder of found) expect(holder).toContain('/objects/')
  })
})

describe('purge', () => {
  it('is a human’s, with the credential', () => {
    const bare = place.writ(['purge', '--before', '0s', '--json'])
    expect(bare).toMatchObject({ status: 1, json: { error: { code: 'credential.required' } } })
    expect(place.writ(['purge']).status).toBe(2)
    expect(place.writ(['purge', '--before', '1d', '--action', 'x']).status).toBe(2)
  })

  it('says first what would go, and drops nothing then', () => {
    const before = holders().length
    const { status, json } = purge('--before', '0s', '--dry-run')
    expect(status, JSON.stringify(json)).toBe(0)
    expect(json.dry_run).toBe(true)
    expect(json.dropped.length).toBeGreaterThan(0)
    expect(json.bytes).toBeGreaterThan(0)
    expect(holders()).toHaveLength(before)
    expect(facts('body_dropped_v1')).toEqual([])
  })

  it('leaves what undo needs, and names it', () => {
    expect(place.exec(['--yes'], 'echo new > work/a.txt; echo told').status).toBe(0)
    const { json } = purge('--before', '0s', '--kind', 'manifest')
    expect(json.kept.length).toBeGreaterThan(0)
    expect(json.kept[0].reason).toContain('taken back until')
    const undone = place.writ(['undo', '--json'])
    expect(undone, undone.out + undone.err).toMatchObject({ status: 0, json: { verified: true } })
    expect(place.text('work/a.txt')).toBe('work/a.txt\n')
  })

  it('leaves what a question needs', () => {
    expect(place.exec([], 'echo asked > work/a.txt').status).toBe(75)
    const { json } = purge('--before', '0s')
    expect(json.kept.map(({ reason }: Json) => reason)).toContain('a question about it waits')
    const [{ id }] = place.pending()
    expect(place.writ(['approve', id, '--yes', '--json']).status).toBe(0)
    expect(place.text('work/a.txt')).toBe('asked\n')
  })

  it('drops the rest for good; facts say so, and still verify', () => {
    const { json } = purge('--before', '0s', '--reason', 'not ours to keep')
    expect(json.dry_run).toBe(false)
    expect(holders()).toEqual([])
    const dropped = facts('body_dropped_v1')
    expect(dropped.length).toBeGreaterThan(0)
    expect(dropped.at(-1)).toMatchObject({
      principal: { kind: 'human', id: 'ann' },
      record: { payload: { rule: 'purge', reason: 'not ours to keep' } },
    })
    const verified = place.writ(['ledger', 'verify', '--json'])
    expect(verified, verified.out).toMatchObject({ status: 0, json: { ok: true, problems: [] } })
    const replayed = place.writ(['replay', '--json'])
    expect(replayed).toMatchObject({ status: 0, json: { ok: true, differences: [] } })
    expect(replayed.json.not_replayed.length).toBeGreaterThan(0)
    for (const { code } of replayed.json.not_replayed) expect(code).toBe('replay.unreplayable')
    // A second time there is nothing left to drop.
    expect(purge('--before', '0s').json.dropped).toEqual([])
  })

  it('goes on working afterwards', () => {
    expect(place.exec(['--yes'], 'echo more > work/b.txt').status).toBe(0)
    expect(place.writ(['undo']).status).toBe(0)
  })

  it('takes one action', () => {
    const command = commandProposal(place, 'echo "$PART"', {})
    command.operation.env = { PART: SECRET }
    const ran = propose(command)
    expect(holders().length).toBeGreaterThan(0)
    const other = propose(commandProposal(place, 'echo other', {}))
    const { json } = purge('--action', ran.action_id)
    expect(new Set(json.dropped.map(({ action_id }: Json) => action_id))).toEqual(
      new Set([ran.action_id]),
    )
    expect(holders()).toEqual([])
    // Both changed nothing and so name the same empty list, which the other still needs.
    expect(json.dropped.map(({ kind }: Json) => kind).toSorted()).toEqual(['output', 'proposal'])
    expect(place.writ(['laws', 'explain', other.action_id, '--json']).json.missing).toBe(null)
  })
})

describe('a question whose bodies are gone', () => {
  /** By damage: a purge leaves what a question needs. */
  function losesProposal(id: string): void {
    const fact = facts('proposal_v1').find(
      ({ record }) => record.payload.descriptor.action_id === id,
    )
    const name = fact?.record.original.body.slice('sha256:'.length)
    const root = join(place.folder, 'state')
    const files = readdirSync(root, { recursive: true, withFileTypes: true })
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((file) => file.replaceAll('/', '').endsWith(name))
    expect(files).toHaveLength(1)
    for (const file of files) rmSync(file)
  }

  it('is named, cannot be approved, and can be denied', () => {
    place.write('work/lost.txt')
    expect(place.exec([], 'echo asked > work/lost.txt').status).toBe(75)
    const [{ id, action_id }] = place.pending()
    losesProposal(action_id)
    expect(place.pending()).toMatchObject([
      {
        id,
        action_id,
        kind: 'COMMAND_EXECUTION',
        effects: { modified: 1 },
        needs: null,
        shape: null,
        problem: { code: 'body.missing' },
      },
    ])
    expect(place.writ(['inbox']).out).toContain(`writ deny ${id}`)
    const refused = place.writ(['approve', id, '--yes', '--json'])
    expect(refused).toMatchObject({ status: 1, json: { error: { code: 'body.missing' } } })
    const denied = place.writ(['deny', id, '--json'])
    expect(denied, denied.out + denied.err).toMatchObject({ status: 0, json: { promoted: false } })
    expect(facts('confirmation_v1').at(-1)?.record.payload).toMatchObject({
      action_id,
      answer: 'DENIED',
    })
    expect(place.pending()).toEqual([])
    expect(place.text('work/lost.txt')).toBe('work/lost.txt\n')
  })
})

describe('time', () => {
  it('drops outputs as the laws say, in the name of writ, and undo ends as they say', () => {
    const laws = 'laws: []\nsettings: { retention: { outputs_days: 0, undo_days: 2 } }\n'
    const timed = new Place('retention', { runs: 'warm' }).init()
    try {
      timed.write('.writ/laws.yaml', laws)
      expect(timed.writ(['laws', 'accept', '--yes']).status).toBe(0)
      expect(timed.exec(['--yes'], 'echo printed; echo x > made').status).toBe(0)
      const { json } = timed.writ(['log', '--json'])
      const of = (type: string): Json =>
        json.facts.filter((fact: Json) => fact.record.type === type)
      expect(of('body_dropped_v1')).toMatchObject([
        {
          principal: { kind: 'script', id: 'writ' },
          record: { payload: { rule: 'retention.outputs_days' } },
        },
      ])
      const [{ record }] = of('promotion_v1')
      const { promoted_at, undo_until } = record.payload
      expect(Date.parse(undo_until) - Date.parse(promoted_at)).toBe(2 * 86_400_000)
      const { kept } = timed.writ(['doctor', '--json']).json
      expect(kept).toMatchObject({ outputs_days: 0, undo: { days: 2, actions: 1 } })
      expect(timed.writ(['doctor']).out).toContain('1 act can be taken back')
      expect(timed.writ(['ledger', 'verify']).status).toBe(0)
      expect(timed.writ(['replay', '--json']).json).toMatchObject({ ok: true, not_replayed: [] })
    } finally {
      timed.remove()
    }
  })

  it('drops nothing by itself at the level FORENSIC', () => {
    const timed = new Place('forensic', { runs: 'warm' }).init()
    try {
      const settings = 'audit_level: FORENSIC, retention: { outputs_days: 0 }'
      timed.write('.writ/laws.yaml', `laws: []\nsettings: { ${settings} }\n`)
      expect(timed.writ(['laws', 'accept', '--yes']).status).toBe(0)
      expect(timed.exec(['--yes'], 'echo printed; echo x > made').status).toBe(0)
      expect(timed.writ(['log', '--type', 'body_dropped_v1', '--json']).json.facts).toEqual([])
    } finally {
      timed.remove()
    }
  })
})
