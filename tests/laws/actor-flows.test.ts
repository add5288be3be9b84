/**
 * Flows and files with the token of an actor: a person starts flows, and a person writes what commands
 * print. Nothing is changed, sent or written before the refusal.
 */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Participant } from '../../src/contracts/index.ts'
import { Place } from '../cli-gate/place.ts'
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
  return JSON.stringify(smallFlow({}, executor === undefined ? {} : { executor }))
}

beforeAll(async () => {
  execFileSync(process.execPath, ['tools/build.mjs'])
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
  place = new Place('actor-flows').init()
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
