/** `writ propose`: answers, exits, dry runs, waiting for a human in another process. */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Json, Place } from './place.ts'

let place: Place

// Each test is several processes, and each of them a sandbox.
vi.setConfig({ testTimeout: 120_000 })

beforeAll(() => {
  place = new Place('propose', { runs: 'warm' }).init()
}, 180_000)

afterAll(() => place?.remove())

interface Wish {
  readonly write?: string
  readonly declared?: readonly string[]
  readonly ask?: boolean
}

/** A proposal that writes one file, declared or not. */
function proposal({ write = 'made', declared = [write], ask = false }: Wish = {}): Json {
  const path = join(place.project, write)
  const paths = declared.map((name) => join(place.project, name))
  return {
    descriptor: {
      descriptor_version: '1.0',
      action_id: randomUUID(),
      created_at: new Date().toISOString(),
      created_by: 'ai',
      intent_summary: 'Write one file of the project.',
      action_type: 'FILE_WRITE',
      risk_level: 'LOW',
      scope: {
        filesystem: { paths: [place.project], recursive: true },
        network: { required: false },
        ui: { required: false },
      },
      resources: { max_cpu_ms: 2000, max_memory_mb: 256, max_disk_mb: 50, max_duration_ms: 5000 },
      preconditions: { paths_exist: [place.project], network_available: false, user_idle: false },
      effects: {
        filesystem: { create: paths, modify: [], delete: [] },
        network: false,
        system_state_change: false,
      },
      sandbox: { required: true, sandbox_type: 'container', allow_network: false, max_runs: 1 },
      rollback: {
        supported: true,
        rollback_type: 'filesystem_snapshot',
        rollback_scope: 'declared_effects_only',
      },
      confirmation: {
        required: ask,
        reason: ask ? 'It is asked for.' : '',
        cooldown_on_repeat: false,
      },
      audit: { log: true, log_level: 'SUMMARY', retain_days: 30 },
    },
    operation: { type: 'FILE_WRITE', path, content: 'content\n' },
  }
}

function propose(document: unknown, args: readonly string[] = [], token?: string) {
  const input = JSON.stringify(document)
  const around = token === undefined ? { input } : { input, token }
  return place.writ(['propose', '-', '--json', ...args], around)
}

describe('propose', () => {
  it('promotes what was declared, and answers with everything', () => {
    const document = proposal()
    const { status, json, out, err } = propose(document)
    expect(status, out + err).toBe(0)
    expect(json).toMatchObject({
      action_id: document.descriptor.action_id,
      decision: { decision: 'PROMOTE', code: 'promote.ok' },
      result: { execution: { status: 'SUCCESS' }, diff: { counts: { added: 1 } } },
      promoted: true,
      promotion: { paths: [join(place.project, 'made')] },
    })
    expect(Object.keys(json).sort()).toEqual(
      ['action_id', 'decision', 'promoted', 'promotion', 'proposal_digest', 'result'].sort(),
    )
    expect(place.text('made')).toBe('content\n')
  })

  it('a dry run decides, changes nothing, and does not use the id up', () => {
    const document = proposal({ write: 'dry' })
    expect(propose(document, ['--dry-run'])).toMatchObject({
      status: 0,
      json: { decision: { decision: 'PROMOTE' }, promoted: false },
    })
    expect(place.has('dry')).toBe(false)
    const { json } = place.writ(['log', '--action', document.descriptor.action_id, '--json'])
    expect(json.facts).toEqual([])
    const shown = place.writ(['propose', '-', '--dry-run'], { input: JSON.stringify(document) })
    expect(shown.out).toContain('would be promoted')
    expect(shown.out).toContain(`+ ${place.project}/dry`)
    expect(propose(document)).toMatchObject({ status: 0, json: { promoted: true } })
    expect(propose(document)).toMatchObject({ status: 1, json: { promoted: false } })
  })

  it('a dry run of what would be asked is 3, of what would be blocked 1', () => {
    expect(propose(proposal({ write: 'd3', ask: true }), ['--dry-run']).status).toBe(3)
    expect(propose(proposal({ write: 'd1', declared: [] }), ['--dry-run']).status).toBe(1)
    expect(place.pending()).toEqual([])
  })

  it('blocks with the reasons, for a machine and for a person', () => {
    const document = proposal({ write: 'undeclared', declared: [] })
    const { status, json } = propose(document)
    expect(status).toBe(1)
    expect(json).toMatchObject({
      decision: { decision: 'BLOCK', code: 'effect.undeclared' },
      promoted: false,
    })
    expect(place.has('undeclared')).toBe(false)
    const again = { ...document, descriptor: { ...document.descriptor, action_id: randomUUID() } }
    const shown = place.writ(['propose', '-'], { input: JSON.stringify(again) })
    expect(shown.status).toBe(1)
    expect(shown.out).toContain('blocked')
  })

  it('a document that is no proposal is refused with its violations', () => {
    const broken = proposal()
    broken.descriptor.created_by = 'human'
    const { status, json } = propose(broken)
    expect(status).toBe(1)
    expect(JSON.stringify(json)).toContain('descriptor.created_by')
    const text = place.writ(['propose', '-', '--json'], { input: 'no json' })
    expect(text).toMatchObject({ status: 1, json: { valid: false } })
    expect(place.writ(['propose', '--json']).status).toBe(2)
  })
})

describe('waiting', () => {
  it('is 3, and the human’s yes or no settles it', () => {
    const { status, json } = propose(proposal({ write: 'asked', ask: true }))
    expect(status).toBe(3)
    expect(json.pending).toMatchObject({ id: expect.any(String), expires_at: expect.any(String) })
    expect(place.has('asked')).toBe(false)
    const shown = place.writ(['inbox', json.pending.id])
    expect(shown.status).toBe(0)
    expect(shown.out).toContain('asked (file, 8 bytes)')
    expect(place.writ(['inbox', json.pending.id, '--all']).out).toContain('+content')
    expect(place.writ(['approve', '--yes', json.pending.id, '--json'])).toMatchObject({
      status: 0,
      json: { promoted: true, promotion: { paths: [join(place.project, 'asked')] } },
    })
    expect(place.text('asked')).toBe('content\n')
  })

  it('what an actor proposed needs more than the plain yes', () => {
    const token = place.token('ai:planner@local')
    const { status, json } = propose(proposal({ write: 'by-actor', ask: true }), [], token)
    expect(status).toBe(3)
    expect(place.pending().map(({ action_id }) => action_id)).toContain(json.action_id)
    const refused = place.writ(['approve', '--yes', json.pending.id, '--json'])
    expect(refused).toMatchObject({ status: 1, json: { error: { code: 'credential.required' } } })
    expect(place.has('by-actor')).toBe(false)
  })

  it('a human sees what waits in every stream, and takes back what was done there', () => {
    const token = place.token('ai:north@local', 'north')
    const asked = propose(proposal({ write: 'north-asked', ask: true }), [], token)
    expect(asked.status).toBe(3)
    expect(place.pending().map(({ id }) => id)).toContain(asked.json.pending.id)
    expect(place.writ(['deny', asked.json.pending.id]).status).toBe(0)
    const done = propose(proposal({ write: 'north-done' }), [], token)
    expect(done.status, done.out + done.err).toBe(0)
    expect(place.writ(['rollback', done.json.action_id]).status).toBe(0)
    expect(place.has('north-done')).toBe(false)
  })

  it.each([
    [['approve', '--yes'], 0, true],
    [['deny'], 1, false],
  ] as const)(
    '--wait stays until a human has answered: %s',
    async (words, exit, promoted) => {
      const write = `waited-${words[0]}`
      const child = place.start(['propose', '-', '--wait', '--json'])
      child.stdin?.end(JSON.stringify(proposal({ write, ask: true })))
      let out = ''
      child.stdout?.on('data', (chunk: Buffer) => {
        out += chunk.toString()
      })
      const ended = new Promise<number | null>((resolve) => {
        child.on('close', resolve)
      })
      const id = await new Promise<string>((resolve) => {
        child.stderr?.on('data', (chunk: Buffer) => {
          const named = /writ approve ([0-9a-f]+)/.exec(chunk.toString())?.[1]
          if (named !== undefined) resolve(named)
        })
      })
      expect(out).toBe('')
      expect(place.writ([...words, id]).status).toBe(0)
      expect(await ended).toBe(exit)
      expect(JSON.parse(out)).toMatchObject({ promoted })
      expect(JSON.parse(out).pending).toBeUndefined()
      expect(place.has(write)).toBe(promoted)
    },
    60_000,
  )
})
