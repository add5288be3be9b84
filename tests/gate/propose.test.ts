/** `writ propose` from end to end: every step is a real one, on a real tree, in a real sandbox. */
import {
  appendFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Ended, Place } from '../cli-gate/place.ts'
import { again, commandProposal, composite, descriptor, operationProposal } from './document.ts'

const INPUTS_CHANGED = 'promote.inputs_changed'

let place: Place

beforeAll(() => {
  place = new Place('propose', { runs: 'warm' }).init()
  place.write('work/keep.txt')
}, 180_000)

afterAll(() => place.remove())

function propose(proposal: unknown, ...options: string[]): Ended {
  const input = JSON.stringify(proposal)
  return place.writ(['propose', '-', '--json', ...options], { input })
}

function at(path: string): string {
  return join(place.project, path)
}

describe('what a declaration holds is promoted, once', () => {
  it('a command', () => {
    place.write('work/a.log')
    const proposal = commandProposal(place, 'rm a.log; echo new > b.txt', {
      create: ['work/b.txt'],
      remove: ['work/*.log'],
    })
    const { status, json } = propose(proposal)
    expect(status, JSON.stringify(json)).toBe(0)
    expect(json).toMatchObject({
      promoted: true,
      decision: { decision: 'PROMOTE', code: 'promote.ok', codes: ['promote.ok'] },
      result: { diff: { counts: { added: 1, modified: 0, deleted: 1 } } },
    })
    expect(json.promotion.paths).toEqual([at('work/a.log'), at('work/b.txt')])
    expect([place.has('work/a.log'), place.text('work/b.txt')]).toEqual([false, 'new\n'])
    const types = place
      .writ(['log', '--json', '--type', 'promotion_v1'])
      .json.facts.map((fact: { record: { payload: { action_id: string } } }) => fact.record.payload)
    expect(types).toHaveLength(1)
    expect(propose(proposal).json.decision.codes).toContain('descriptor.action_id_reused')
  })

  it.each([
    [
      'FILE_WRITE',
      { path: 'work/deep/er/w.txt', content: 'x', mode: '0600' },
      { create: ['work/deep/**'] },
    ],
    [
      'FILE_MOVE',
      { from: 'work/deep/er/w.txt', to: 'work/m.txt' },
      { create: ['work/m.txt'], remove: ['work/deep/er/w.txt'] },
    ],
    ['DIRECTORY_CREATE', { path: 'work/dir' }, { create: ['work/dir'] }],
    ['FILE_DELETE', { paths: ['work/m.txt'] }, { remove: ['work/m.txt'] }],
    ['DIRECTORY_DELETE', { path: 'work/deep', recursive: true }, { remove: ['work/deep/**'] }],
    ['FILE_READ', { path: 'work/keep.txt' }, {}],
  ] as const)('%s', (type, fields, wanted) => {
    const absolute = Object.fromEntries(
      Object.entries(fields).map(([key, value]) => [
        key,
        typeof value === 'string' && value.startsWith('work')
          ? at(value)
          : Array.isArray(value)
            ? value.map(at)
            : value,
      ]),
    )
    const { status, json } = propose(operationProposal(place, { type, ...absolute }, wanted))
    expect(status, JSON.stringify(json)).toBe(0)
    expect(json.decision.decision).toBe('PROMOTE')
    if (type === 'FILE_READ') expect(json.result.outputs.stdout).toBe('work/keep.txt\n')
    if (type === 'FILE_WRITE') expect(lstatSync(at('work/deep/er/w.txt')).mode & 0o777).toBe(0o600)
  })

  it('a composite, as one act that is undone as one (G-22)', () => {
    place.write('work/one.txt')
    const children = [
      commandProposal(place, 'echo 2 > two.txt', { create: ['work/two.txt'] }),
      commandProposal(place, 'cat two.txt >> one.txt', { modify: ['work/one.txt'] }),
    ]
    const proposal = composite(place, children, {
      create: ['work/two.txt'],
      modify: ['work/one.txt'],
      resources: {
        max_cpu_ms: 20_000,
        max_memory_mb: 1024,
        max_disk_mb: 128,
        max_duration_ms: 40_000,
      },
    })
    const { status, json } = propose(proposal)
    expect(status, JSON.stringify(json)).toBe(0)
    expect(place.text('work/one.txt')).toBe('work/one.txt\n2\n')
    expect(place.writ(['rollback', json.action_id, '--json']).json).toMatchObject({
      verified: true,
    })
    expect([place.text('work/one.txt'), place.has('work/two.txt')]).toEqual([
      'work/one.txt\n',
      false,
    ])
  })

  it('nothing at all, without a question', () => {
    const { status, json } = propose(commandProposal(place, 'cat keep.txt', { confirm: true }))
    expect({ status, promoted: json.promoted }).toEqual({ status: 0, promoted: true })
    expect(json.promotion.paths).toEqual([])
  })

  it('paths that lead through a link, where they really are', () => {
    mkdirSync(at('real/inner'), { recursive: true })
    symlinkSync(at('real'), at('work/link'))
    const operation = { type: 'FILE_WRITE', path: at('work/link/inner/f'), content: 'x' }
    const scope = ['work/link']
    const { status, json } = propose(
      operationProposal(place, operation, { scope, create: ['work/link/inner/f'] }),
    )
    expect(status, JSON.stringify(json)).toBe(0)
    expect(place.text('real/inner/f')).toBe('x')
  })
})

describe('what a declaration does not hold is blocked, and nothing of it happens', () => {
  it('an undeclared deletion, for good, until a human lifts it', () => {
    place.write('work/precious.txt')
    const proposal = commandProposal(place, 'rm precious.txt; echo x > c.txt', {
      create: ['work/c.txt'],
    })
    expect(propose(proposal).json.decision).toMatchObject({
      decision: 'BLOCK',
      code: 'effect.undeclared',
      permanent: true,
    })
    expect([place.has('work/precious.txt'), place.has('work/c.txt')]).toEqual([true, false])
    const second = propose(again(proposal))
    expect(second.json).toMatchObject({ decision: { code: 'block.permanent' }, result: null })
    const token = place.token('ai:helper@local')
    const lift = ['override', '--lift', second.json.action_id, '--reason', 'looked at it', '--json']
    expect(place.writ(lift, { token }).status).toBe(1)
    expect(place.writ(lift).json).toMatchObject({ ok: true })
    expect(propose(again(proposal)).json.decision.code).toBe('effect.undeclared')
  })

  it('a corrected declaration is another intent', () => {
    const script = 'echo x > d.txt; echo y > e.txt'
    expect(propose(commandProposal(place, script, { create: ['work/d.txt'] })).status).toBe(1)
    const right = commandProposal(place, script, { create: ['work/d.txt', 'work/e.txt'] })
    expect(propose(right).status).toBe(0)
  })

  it('writes outside the scope, into the project and into the home', () => {
    const outside = propose(commandProposal(place, 'echo x > ../outside.txt', {}))
    expect(outside.json.decision.code).toBe('effect.out_of_scope')
    const home = propose(commandProposal(place, 'echo x > "$HOME/.profile"', {}))
    expect(home.json.decision.codes).toContain('effect.out_of_scope')
    expect(place.has('outside.txt')).toBe(false)
  })

  it('a set-user-id bit, and anything of writ (tier 0)', () => {
    const suid = propose(commandProposal(place, 'echo x > s; chmod 4755 s', { create: ['work/s'] }))
    expect(suid.json.decision).toMatchObject({ decision: 'BLOCK', tier: 0 })
    const own = commandProposal(place, 'mkdir .writ; echo x > .writ/id', {
      create: ['work/**'],
    })
    expect(propose(own).json.decision).toMatchObject({ decision: 'BLOCK', tier: 0 })
    expect([place.has('work/s'), place.has('work/.writ')]).toEqual([false, false])
  })

  it('a process that lives on (G-12)', () => {
    const proposal = commandProposal(place, '(sleep 30 >/dev/null 2>&1 &) ; exit 0', {})
    expect(propose(proposal).json).toMatchObject({
      decision: { decision: 'BLOCK', code: 'rehearsal.background' },
    })
  })

  it.each([
    ['duration', 'sleep 30', { max_duration_ms: 400 }, 'result.timeout'],
    ['cpu', 'while :; do :; done', { max_cpu_ms: 300 }, 'result.resource_killed'],
    ['disk', 'head -c 20000000 /dev/zero > big', { max_disk_mb: 4 }, 'result.resource_killed'],
  ] as const)('a run that passes its cap: %s (G-11)', (cap, script, resources, code) => {
    const { json } = propose(commandProposal(place, script, { create: ['work/**'], resources }))
    expect(json.decision).toMatchObject({ decision: 'BLOCK', code })
    expect(json.result.execution.killed_by).toBe(cap)
  })

  it('a composite of which one child does more than it says', () => {
    const wanted = { create: ['work/x1', 'work/x2'] }
    const children = [
      commandProposal(place, 'echo 1 > x1; echo 2 > x2', { create: ['work/x1'] }),
      commandProposal(place, 'true', { create: ['work/x2'] }),
    ]
    const resources = {
      max_cpu_ms: 20_000,
      max_memory_mb: 1024,
      max_disk_mb: 128,
      max_duration_ms: 40_000,
    }
    const { json } = propose(composite(place, children, { ...wanted, resources }))
    expect(json.decision).toMatchObject({ decision: 'BLOCK', code: 'effect.undeclared' })
    expect(place.has('work/x1')).toBe(false)
  })

  it('a failed precondition, and an actor does not learn which (G-9)', () => {
    const proposal = commandProposal(place, 'true', { pathsExist: ['work/not-there'] })
    const { json, out } = propose(proposal)
    expect(json).toMatchObject({ decision: { code: 'precondition.failed' }, result: null })
    expect(out).not.toContain('not-there')
  })
})

describe('what is asked about', () => {
  it('waits in the inbox, bound to its digests, and a yes promotes it', () => {
    place.write('work/q.log')
    const asked = propose(
      commandProposal(place, 'rm q.log', { remove: ['work/*.log'], confirm: true }),
    )
    expect(asked).toMatchObject({ status: 3, json: { decision: { code: 'confirm.descriptor' } } })
    expect(place.has('work/q.log')).toBe(true)
    const [question] = place.pending()
    expect(question).toMatchObject({
      id: asked.json.pending.id,
      action_id: asked.json.action_id,
      needs: 'plain',
      effects: { added: 0, modified: 0, deleted: 1 },
    })
    expect(place.writ(['approve', '--yes', question.id, '--json']).json).toMatchObject({
      promoted: true,
    })
    expect(place.has('work/q.log')).toBe(false)
  })

  it('is void when another process changed the path meanwhile', () => {
    const file = place.write('work/edited.txt', 'one\n')
    const proposal = commandProposal(place, 'echo two >> edited.txt', {
      modify: ['work/edited.txt'],
      confirm: true,
    })
    const { json } = propose(proposal)
    appendFileSync(file, 'a person was here\n')
    const answer = place.writ(['approve', '--yes', json.action_id, '--json'])
    expect(answer.json).toMatchObject({
      promoted: false,
      decision: { decision: 'BLOCK', code: 'promote.conflict', permanent: false },
      obstacles: [{ code: 'promote.conflict', path: file }],
    })
    expect(readFileSync(file, 'utf8')).toBe('one\na person was here\n')
    expect(place.pending()).toEqual([])
  })

  it('is void when another process put a file into a directory that is made again (G-19b)', () => {
    place.write('work/dist/old.js')
    const script = 'rm -r dist; mkdir dist; echo new > dist/new.js'
    const { json } = propose(
      commandProposal(place, script, {
        create: ['work/dist/**'],
        remove: ['work/dist/**'],
        confirm: true,
      }),
    )
    place.write('work/dist/theirs.js')
    const answer = place.writ(['approve', json.action_id, '--yes', '--json'])
    const codes = answer.json.decision.codes
    expect(codes.includes('promote.conflict') || codes.includes(INPUTS_CHANGED)).toBe(true)
    const again = place.writ(['approve', json.action_id, '--yes', '--json'])
    expect([answer, again].some(({ json: { promoted } }) => promoted === true)).toBe(false)
    expect([place.has('work/dist/old.js'), place.has('work/dist/theirs.js')]).toEqual([true, true])
  })

  it('is promoted when other files of the scope changed meanwhile, which is recorded', () => {
    const { json } = propose(
      commandProposal(place, 'echo 1 > made.txt', { create: ['work/made.txt'], confirm: true }),
    )
    place.write('work/server.log', 'a line\n')
    const answer = place.writ(['approve', '--yes', json.action_id, '--json'])
    expect(answer).toMatchObject({ status: 0, json: { promoted: true } })
    const { facts } = place.writ(['log', '--json', '--type', 'confirmation_v1']).json
    const recorded = facts.map(({ record }: { record: { payload: unknown } }) => record.payload)
    expect(recorded).toContainEqual(
      expect.objectContaining({
        action_id: json.action_id,
        changed_meanwhile: [join(place.project, 'work/server.log')],
      }),
    )
  })

  it('is asked about once more when a declared input changed meanwhile (G-19d)', () => {
    place.write('work/input.txt', '1\n')
    const { json } = propose(
      commandProposal(place, 'cat input.txt > output.txt', {
        create: ['work/output.txt'],
        pathsExist: ['work/input.txt'],
        confirm: true,
      }),
    )
    place.write('work/input.txt', '2\n')
    const first = place.writ(['approve', '--yes', json.action_id, '--json'])
    expect(first).toMatchObject({
      status: 3,
      json: { promoted: false, decision: { codes: expect.arrayContaining([INPUTS_CHANGED]) } },
    })
    const second = place.writ(['approve', '--yes', json.action_id, '--json'])
    expect(second).toMatchObject({ status: 0, json: { promoted: true } })
    expect(place.text('work/output.txt')).toBe('1\n')
  })

  it('a path that other programs run by themselves, declared or not (G-15a)', () => {
    const hook = '.git/hooks/pre-commit'
    const proposal = operationProposal(
      place,
      { type: 'FILE_WRITE', path: at(hook), content: '#!/bin/sh\n', mode: '0755' },
      { scope: ['.git/hooks'], create: [hook] },
    )
    const { status, json } = propose(proposal)
    expect({ status, code: json.decision.code }).toEqual({
      status: 3,
      code: 'effect.deferred_execution',
    })
    place.writ(['deny', json.action_id])
  })

  it('the same wish after a rollback: cooled down, then asked about (G-18)', () => {
    const proposal = commandProposal(place, 'echo x > cool.txt', { create: ['work/cool.txt'] })
    const { json } = propose(proposal)
    expect(json.promoted).toBe(true)
    expect(place.writ(['rollback', json.action_id]).status).toBe(0)
    expect(propose(again(proposal)).json.decision.code).toBe('cooldown')
  })
})

describe('the host', () => {
  it('drops what no list keeps, and says so', () => {
    const script = 'mkdir -p "$HOME/.cache/tool" && echo x > "$HOME/.cache/tool/x"; echo y > y.txt'
    const { status, json } = propose(commandProposal(place, script, { create: ['work/y.txt'] }))
    expect(status, JSON.stringify(json.decision)).toBe(0)
    expect(json.result.findings).toContainEqual(
      expect.objectContaining({ code: 'effect.discarded' }),
    )
  })

  it('refuses what it cannot keep, on the record, and leaves nothing of it', () => {
    const homes = join(place.folder, 'state', 'writ')
    const [home = ''] = readdirSync(homes).filter((name) => name.length === 36)
    const stages = join(homes, home, 'stage')
    const before = existsSync(stages) ? readdirSync(stages) : []
    // Memory takes an attribute that the disk does not.
    const script = 'echo a > big.txt; setfattr -n user.big -v "$(printf %09000d 7)" big.txt'
    const { status, json } = propose(commandProposal(place, script, { create: ['work/big.txt'] }))
    expect(status).not.toBe(0)
    expect(json).toMatchObject({ promoted: false, decision: { decision: 'BLOCK' } })
    expect(json.decision.codes).toContain('stage.mismatch')
    expect(place.has('work/big.txt')).toBe(false)
    expect(readdirSync(stages)).toEqual(before)
    const { facts } = place.writ(['log', '--json', '--type', 'decision_v1']).json
    const recorded = facts.map((fact: { record: { payload: object } }) => fact.record.payload)
    expect(recorded).toContainEqual(json.decision)
  })

  it('a dry run leaves no fact and does not use up the id', () => {
    const proposal = commandProposal(place, 'echo x > dry.txt', { create: ['work/dry.txt'] })
    const before = place.writ(['log', '--json']).json.facts.length
    expect(propose(proposal, '--dry-run')).toMatchObject({
      status: 0,
      json: { promoted: false, decision: { decision: 'PROMOTE' } },
    })
    expect(place.writ(['log', '--json']).json.facts).toHaveLength(before)
    expect(place.has('work/dry.txt')).toBe(false)
    expect(propose(proposal)).toMatchObject({ status: 0, json: { promoted: true } })
  })

  it('goes on by the accepted laws while the file is another one, and says so', () => {
    const laws = at('.writ/laws.yaml')
    const accepted = readFileSync(laws, 'utf8')
    const proposal = commandProposal(place, 'echo laws', {})
    writeFileSync(laws, 'laws: []\nreplace: true\n')
    const critical = commandProposal(place, 'echo laws', {})
    critical.descriptor.risk_level = 'CRITICAL'
    const { decision } = propose(critical).json
    expect(decision).toMatchObject({ decision: 'BLOCK', code: 'law.NO_CRITICAL' })
    expect(decision.codes).toContain('laws.unaccepted')
    expect(propose(proposal)).toMatchObject({ status: 0 })
    for (const script of ['true', 'echo x > by-older-laws']) {
      const done = place.exec(['--yes'], script)
      expect([done.status, done.err.split('\n').length], done.err).toEqual([0, 2])
      expect(done.err).toContain('laws.unaccepted')
    }
    expect(place.writ(['log']).status).toBe(0)
    writeFileSync(laws, `${accepted}# another word\n`)
    expect(place.writ(['laws', 'accept', '--yes']).status).toBe(0)
    expect(propose(again(proposal)).json.decision.codes).not.toContain('laws.unaccepted')
    const facts = place.writ(['log', '--json', '--stream', 'host', '--type', 'laws_v1']).json.facts
    expect(facts).toHaveLength(2)
  })

  it('names the law that an override sets aside, in the question and in the answer', () => {
    const order = ['override', '--law', 'NO_CRITICAL', '--for', '10m', '--reason', 'this once']
    expect(place.writ(order).status).toBe(0)
    const critical = commandProposal(place, 'echo x > crit.txt', { create: ['work/crit.txt'] })
    critical.descriptor.risk_level = 'CRITICAL'
    const { json } = propose(critical)
    expect(json.decision, JSON.stringify(json)).toMatchObject({
      decision: 'CONFIRM',
      code: 'confirm.critical',
    })
    expect(json.set_aside, JSON.stringify(json)).toMatchObject([{ policy_id: 'NO_CRITICAL' }])
    expect(place.writ(['inbox', json.pending.id]).out).toMatch(
      /set aside the law NO_CRITICAL, by the override [0-9a-f]{8} until .* UTC, for 1 act: “this once”/,
    )
    expect(place.writ(['deny', json.pending.id]).status).toBe(0)
  })

  it('refuses documents with every reason, and their ids are used', () => {
    const broken = { descriptor: descriptor(place, 'FILE_READ', {}), operation: {} }
    broken.descriptor.resources.max_cpu_ms = 0
    const { status, json } = propose(broken)
    expect(status).toBe(1)
    expect(json.decision).toMatchObject({ decision: 'BLOCK', permanent: true })
    expect(json.violations.length).toBeGreaterThan(1)
    const old = commandProposal(place, 'echo old', {})
    old.descriptor.created_at = '2020-01-01T00:00:00Z'
    expect(propose(old).json.decision.code).toBe('descriptor.created_at')
    const greedy = commandProposal(place, 'true', { resources: { max_memory_mb: 10_000_000 } })
    expect(propose(greedy).json.decision.code).toBe('descriptor.ceiling')
  })

  it('computes every decision again, and finds nothing different', () => {
    const { status, json } = place.writ(['replay', '--json'])
    expect({ status, differences: json.differences }).toEqual({ status: 0, differences: [] })
    expect(json.checked).toBeGreaterThan(20)
    expect(place.writ(['ledger', 'verify']).status).toBe(0)
  })
})
