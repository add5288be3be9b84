/**
 * Flows and files with the token of an actor: a person starts flows, and a person writes what commands
 * print. Nothing is changed, sent or written before the refusal.
 */
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { COMMANDS } from '../../src/cli/commands/table.ts'
import type { Participant } from '../../src/contracts/index.ts'
import { type Json, Place } from '../cli-gate/place.ts'
import { script, smallFlow, TOOL } from '../flow-run/scripts.ts'

vi.setConfig({ testTimeout: 120_000 })

const ACTORS = ['ai', 'script', 'device'] as const
/** An executor that deletes a file of the person, and leaves what it was asked for. */
const TAKES_AWAY = script(`${TOOL}
rmSync('kept.txt', { force: true })
answer({ task_id: input.node.node_id, result_type: 'ARTIFACT',
  artifact: { name: 'out', format: 'md', content: 'x' } })
`).replace('{ readFileSync,', '{ rmSync, readFileSync,')
const APPROVES = script(`
answer({ review_id: input.review_id, artifact_digest: input.artifact.digest, total_score: 95,
  action_required: 'APPROVE', summary: 'read', breakdown: [], suggestions: [] })
`)

let place: Place
let token: string
let server: Server
let requests = 0

function flow(executor?: Participant): string {
  const writes = ['kept.txt', 'big', 'made']
  return JSON.stringify(smallFlow({}, executor === undefined ? { writes } : { executor, writes }))
}

beforeAll(async () => {
  server = createServer((request, response) => {
    requests++
    request.resume()
    response.end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
}, 180_000)

afterAll(() => server?.close())

const address = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`

beforeEach(() => {
  place = new Place('actor-flows', { runs: 'warm' }).init()
  token = place.token('ai:bot@local')
  place.write('kept.txt', 'of a person\n')
  place.write('worker.mjs', TAKES_AWAY)
  place.write('reviewer.mjs', APPROVES)
  requests = 0
})

afterEach(() => place?.remove())

describe('with an actor’s token', () => {
  it.each(ACTORS)('%s does not start a flow, however it is written', (kind) => {
    const own = kind === 'ai' ? token : place.token(`${kind}:bot@local`)
    place.write('flow.json', flow())
    const elsewhere = join(place.folder, 'home')
    for (const more of [[], ['--workspace', elsewhere], ['--yes']]) {
      const { status, err } = place.writ(['flow', 'run', 'flow.json', ...more], { token: own })
      expect(status, err).toBe(1)
      expect(err).toContain('principal.not_human')
      expect(err).toContain('a person starts it: writ flow run')
    }
    expect(place.text('kept.txt')).toBe('of a person\n')
    expect(place.has('artifacts')).toBe(false)
    expect(existsSync(join(elsewhere, 'artifacts'))).toBe(false)
    expect(place.writ(['flow', 'status', '--json']).json.runs).toEqual([])
  })

  it('no host of its choice is asked', () => {
    place.write('flow.json', flow({ http: address() }))
    const participants = {
      type: 'participants_v1',
      participants: { planner: { http: address() }, reviewer: { http: address() } },
    }
    place.write('participants.json', JSON.stringify(participants))
    const goal = ['--goal', 'g', '--participants', 'participants.json', '--out', 'plan.json']
    for (const words of [
      ['flow', 'run', 'flow.json'],
      ['flow', 'plan', ...goal],
      ['flow', 'plan', '--resume'],
      ['flow', 'resume'],
    ]) {
      const { json } = place.writ([...words, '--json'], { token })
      expect(json?.error?.code, words.join(' ')).toBe('principal.not_human')
    }
    expect(requests).toBe(0)
    expect(place.has('plan.json')).toBe(false)
  })

  it('a flow is not started below a known agent either', () => {
    const program = join(place.folder, 'claude')
    execFileSync('cp', ['/bin/sh', program])
    place.write('flow.json', flow())
    const through = [program, '-c', '"$@"; exit $?', 'claude']
    const { json } = place.writ(['flow', 'run', 'flow.json', '--json'], { through })
    expect(json?.error?.code).toBe('principal.not_human')
    expect(place.text('kept.txt')).toBe('of a person\n')
  })

  it('a person’s own flow is carried out', () => {
    place.write('flow.json', flow())
    expect(place.writ(['flow', 'run', 'flow.json', '--json']).json.status).toBe('DONE')
    expect(place.has('kept.txt')).toBe(false)
  })
})

describe('what participants displace and leave', () => {
  const settings = (text: string): void => {
    place.write('.writ/laws.yaml', `laws: []\nsettings: ${text}\n`)
    expect(place.writ(['laws', 'accept', '--yes']).status).toBe(0)
  }
  const works = (body: string): void => {
    place.write('worker.mjs', TAKES_AWAY.replace("rmSync('kept.txt', { force: true })", body))
    place.write('flow.json', flow())
  }

  it('counts in the room for undo, and a person is asked beyond it', () => {
    settings('{ retention: { actor_quota_mb: 1 } }')
    place.write('big', 'x'.repeat(2 << 20))
    works("writeFileSync('big', 'small')")
    const { json } = place.writ(['flow', 'run', 'flow.json', '--json'])
    expect(json.status).not.toBe('DONE')
    const [{ reasons }] = place.pending()
    expect(reasons.map(({ code }: { code: string }) => code)).toContain('confirm.undo_quota')
    expect(place.text('big')).toHaveLength(2 << 20)
  })

  it('is blocked beyond the room for what flows hold', () => {
    settings('{ question_quota_mb: 1 }')
    works("writeFileSync('made', 'x'.repeat(2 << 20))")
    const { json } = place.writ(['flow', 'run', 'flow.json', '--json'])
    expect(json.status).not.toBe('DONE')
    expect(place.has('made')).toBe(false)
    const facts = place.writ(['log', '--json', '--type', 'decision_v1']).json.facts
    const codes = facts.flatMap(({ record }: Json) => record.payload.codes)
    expect(codes).toContain('question.quota')
  })
})

/** Every command that writes a file where its caller says, and the option that names the file. */
const WRITERS: readonly (readonly [string, ...string[]])[] = [
  ['flow import', '--edges', 'edges.csv', '--out', 'OUT.yaml'],
  ['flow export', 'flow.json', '--out', 'OUT.svg'],
  ['flow report', '--html', 'OUT.html'],
  ['flow report', '--deliverables', 'OUT'],
  ['schema', '--out', 'OUT'],
  ['man', '--out', 'OUT'],
  ['rules fmt', 'OUT.rules.yaml', '--guards', 'tree', '--write'],
  ['ledger export', 'OUT'],
  ['ledger prove', '0', '--out', 'OUT.proof'],
]

/** Everything in the project, without what writ itself keeps. */
function files(): string {
  const words = [place.project, '-path', '*/.writ', '-prune', '-o', '-printf', '%p %s %T@\\n']
  return execFileSync('find', words, { encoding: 'utf8' })
}

describe('files that commands write', () => {
  beforeEach(() => {
    copyFileSync('examples/flows/tables/edges.csv', join(place.project, 'edges.csv'))
    copyFileSync('examples/constitution/apply.yaml', join(place.project, 'OUT.rules.yaml'))
    place.write('flow.json', flow())
    expect(place.writ(['flow', 'run', 'flow.json', '--json']).json.status).toBe('DONE')
  })

  it('are written for a person, also with a token of theirs, and never with an actor’s', () => {
    const own = place.token('human:bob@local')
    for (const [name, ...rest] of WRITERS) {
      const words = [...name.split(' '), ...rest]
      const before = files()
      const refused = place.writ(words, { token })
      expect(refused.status, refused.err).toBe(1)
      expect(refused.err).toContain('principal.not_human')
      expect(refused.err).toMatch(/a person (?:writes files|exports it)/)
      // Nor where no home could know the token.
      const lost = place.writ(words, { token, env: { WRIT_HOME: '/nowhere' } })
      expect(lost.status, words.join(' ')).not.toBe(0)
      expect(files(), words.join(' ')).toBe(before)
      expect(place.writ(words, { token: own }).err).not.toContain('principal.not_human')
      expect(files(), words.join(' ')).not.toBe(before)
      rmSync(join(place.project, 'OUT'), { recursive: true, force: true })
    }
  })

  it('the table names every option that commands have for it', () => {
    const writes = COMMANDS.flatMap(({ name, options }) =>
      options
        .filter(({ name: option }) => ['out', 'html', 'deliverables', 'write'].includes(option))
        .map((option) => `${name} --${option.name}`),
    )
    const named = WRITERS.map(([name, ...rest]) => {
      const option = rest.findLast((word) => word.startsWith('--')) ?? ''
      return `${name} ${option}`
    })
    // Planning is a person's as a whole; the writes of an act are judged by the gate; nothing was learned here.
    const others = ['flow plan --out', 'exec --write', 'run --write', 'laws learn --out']
    expect(writes.filter((one) => !named.includes(one) && !others.includes(one))).toEqual([])
  })
})
