/** Tasks, receipts and streams, as people and machines meet them: the built program. */
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { INPUTS, RULESET } from '../../src/cli/demo/constitution-chapter.ts'
import { ANN, codes, folder, type Json, Place, PROGRAM, RECEIPT, TASK } from './rig.ts'

describe('tasks and receipts', () => {
  const place = new Place('act')
  let pump = ''
  let bot = ''
  beforeAll(() => {
    place.init()
    pump = place.token('device:pump-3@farm')
    bot = place.token('ai:bot@farm')
  }, 60_000)

  it('a human issues, the host fills, the client’s own values are ignored', () => {
    const input = JSON.stringify({ ...TASK, act_task_id: 'mine', created_at_ts: 1 })
    const issued = place.writ(['task', 'issue', '-', '--json'], { input })
    expect(Object.keys(issued.json)).toEqual(['act_task_id', 'seq', 'fact_id'])
    expect(issued.json.act_task_id).not.toBe('mine')
    const [fact] = place.writ(['log', '--task', issued.json.act_task_id, '--json']).json.facts
    expect(fact.principal).toEqual(ANN)
    expect(Math.abs(fact.record.payload.created_at_ts - Date.now())).toBeLessThan(60_000)
  })

  it('refuses another issuer and a broken document, with everything that is wrong', () => {
    const other = { ...TASK, issuer: { ...ANN, id: 'bob' }, action_type: 'FLY' }
    const refused = place.writ(['task', 'issue', '-', '--json'], { input: JSON.stringify(other) })
    expect([refused.status, refused.json.valid]).toEqual([1, false])
    expect(codes(refused).sort()).toEqual(['task.action_type', 'task.issuer_mismatch'])
    expect(codes(place.writ(['task', 'issue', '-', '--json'], { input: '[1' }))).toEqual([
      'document.not_json',
    ])
  })

  it('takes a receipt once, from the executor it names, judged with its task', () => {
    const id = place.issue()
    expect(codes(place.submit(id, bot))).toEqual(['receipt.executor_mismatch'])
    expect(codes(place.submit(id, undefined))).toEqual(['receipt.executor_mismatch'])
    expect(codes(place.submit('act-none', pump))).toEqual(['receipt.unknown_task'])
    expect(codes(place.submit(id, pump, { meta: {} }))).toEqual(['receipt.idempotency_key'])
    expect(codes(place.submit(id, pump, { observed_parameters: { method: 'sprinkle' } }))).toEqual([
      'receipt.enum_not_in_list',
    ])
    const first = place.submit(id, pump, { created_at_ts: 1 })
    expect(Object.keys(first.json)).toEqual(['fact_id', 'seq'])
    const again = place.submit(id, pump)
    expect([again.status, codes(again)]).toEqual([1, ['receipt.duplicate']])
    expect(again.json.violations[0].message).toContain(first.json.fact_id)
    expect(place.submit(id, pump, { meta: { idempotency_key: 'run-2' } }).status).toBe(0)
    expect(place.submit(place.issue(), pump).status).toBe(0)
  }, 60_000)

  it('takes one of several equal receipts that come at once', async () => {
    const id = place.issue()
    const file = join(folder, 'racing-receipt.json')
    writeFileSync(file, JSON.stringify({ ...RECEIPT, act_task_id: id }))
    const submit = () =>
      new Promise<number | null>((resolve) => {
        const child = spawn(process.execPath, [PROGRAM, 'receipt', 'submit', file], {
          cwd: place.project,
          env: place.env(pump),
          stdio: 'ignore',
        })
        child.once('close', resolve)
      })
    const ended = await Promise.all([submit(), submit(), submit()])
    expect(ended.sort()).toEqual([0, 1, 1])
    expect(place.writ(['show', id, '--json']).json.evidence_pack.receipts).toHaveLength(1)
  }, 60_000)

  it('takes a receipt of the human himself', () => {
    const id = place.issue()
    expect(place.submit(id, undefined, { executor_id: ANN }).status).toBe(0)
  })

  it('shows a task with its evidence pack and integrity report', () => {
    const id = place.issue()
    place.submit(id, pump)
    place.submit(id, pump, { meta: { idempotency_key: 'run-2' }, status: 'not_executed' })
    const { status, json } = place.writ(['show', id, '--json'])
    expect(status).toBe(0)
    expect(json).toMatchObject({ id, kind: 'task' })
    expect(json.facts).toHaveLength(3)
    expect(json.evidence_pack).toMatchObject({
      type: 'ao_act_receipt_evidence_pack_v0',
      act_task_id: id,
      act_task: { ...TASK, act_task_id: id },
      refs: [{ kind: 'log', ref: 'log:1' }],
    })
    expect(json.evidence_pack.receipts).toHaveLength(2)
    expect(json.integrity_report).toEqual({
      type: 'ao_act_integrity_report_v0',
      ok: true,
      errors: [],
      receipts_checked: 2,
    })
    expect(place.writ(['task', 'show', id, '--json']).json).toEqual(json)
    const listed = place.writ(['task', 'list', '--json']).json.tasks
    expect(listed.find(({ act_task_id }: Json) => act_task_id === id)).toEqual({
      act_task_id: id,
      seq: json.facts[0].seq,
      action_type: 'IRRIGATE',
      receipts: 2,
      status: 'not_executed',
      contradictory: true,
      dispatch: null,
    })
    expect([json.status, json.contradictory]).toEqual(['not_executed', true])
    expect(place.writ(['task', 'show', id]).out).toContain('contradictory')
    const byFact = place.writ(['show', json.facts[1].fact_id, '--json']).json
    expect([byFact.kind, byFact.facts]).toEqual(['fact', [json.facts[1]]])
    const bySeq = place.writ(['show', `main/${json.facts[1].seq}`, '--json']).json
    expect(bySeq.facts).toEqual([json.facts[1]])
    expect(place.writ(['show', 'act-none', '--json']).json.error.code).toBe('history.unknown')
  }, 60_000)

  it('lists tasks page by page, each with its own receipts', () => {
    const all = place.writ(['task', 'list', '--json']).json
    expect(all.next).toBe(undefined)
    expect(all.tasks.length).toBeGreaterThan(2)
    const paged: Json[] = []
    for (let after: number | undefined = -1; after !== undefined; ) {
      const behind: readonly string[] = after === -1 ? [] : ['--after', String(after)]
      const page = place.writ(['task', 'list', '--limit', '1', ...behind, '--json']).json
      expect(page.tasks.length).toBeLessThanOrEqual(1)
      paged.push(...page.tasks)
      after = page.next
    }
    expect(paged).toEqual(all.tasks)
    const shown = place.writ(['task', 'list', '--limit', '1'])
    expect(shown.err).toMatch(/^more: --after \d+\n$/)
    expect(place.writ(['task', 'list', '--limit', 'many']).status).toBe(2)
  })

  it('lists newest first, and by what is open or by device', () => {
    const { tasks } = place.writ(['task', 'list', '--json']).json
    const seqs = tasks.map(({ seq }: Json) => seq)
    expect(seqs).toEqual([...seqs].sort((one, other) => other - one))
    const oldest = place.writ(['task', 'list', '--oldest', '--json']).json.tasks
    expect(oldest).toEqual([...tasks].reverse())
    const open = place.writ(['task', 'list', '--open', '--json']).json.tasks
    expect(open).toEqual(tasks.filter(({ status }: Json) => status === 'open'))
    const device = place.writ(['task', 'list', '--device', 'pump-3@farm', '--json']).json.tasks
    expect(device.length).toBeGreaterThan(0)
    expect(device.length).toBeLessThan(tasks.length)
    for (const one of device) expect(one.receipts).toBeGreaterThan(0)
    expect(place.writ(['task', 'list', '--device', '@']).status).toBe(2)
  })

  it('makes one task of a repeated call with a key, and refuses other content under it', () => {
    const issue = (document: object, ...args: string[]) =>
      place.writ(['task', 'issue', '-', ...args, '--json'], { input: JSON.stringify(document) })
    const count = () => place.writ(['task', 'list', '--json']).json.tasks.length
    const before = count()
    const first = issue(TASK, '--key', 'order-7')
    expect(first.status).toBe(0)
    const again = issue({ ...TASK, meta: { idempotency_key: 'order-7' } })
    expect([again.status, again.json]).toEqual([0, { ...first.json, repeated: true }])
    expect(place.writ(['task', 'show', first.json.act_task_id]).status).toBe(0)
    const other = issue({ ...TASK, action_type: 'HARVEST' }, '--key', 'order-7')
    expect([other.status, other.json.violations[0].code]).toEqual([1, 'task.key_reused'])
    expect(issue({ ...TASK, meta: { idempotency_key: 'x' } }, '--key', 'y').status).toBe(2)
    expect(count()).toBe(before + 1)
  })

  it('makes no task out of a verdict, a receipt or a schedule (I7)', () => {
    const tasks = () => place.writ(['task', 'list', '--json']).json.tasks.length
    const before = tasks()
    const rules = join(folder, 'i7-rules.json')
    const inputs = join(folder, 'i7-inputs.json')
    writeFileSync(rules, JSON.stringify(RULESET))
    writeFileSync(inputs, JSON.stringify(INPUTS))
    place.writ(['rules', 'eval', '--rules', rules, '--inputs', inputs, '--record'])
    place.writ(['replay'])
    expect(tasks()).toBe(before)
    // One command writes task records (the tour does so on a throw-away ledger), and neither it nor
    // what it imports speaks of verdicts.
    const writers = sourceFiles('src').filter((file) =>
      /record: \{ type: 'ao_act_task_v0'|judgeTask\(|newTask\(/.test(readFileSync(file, 'utf8')),
    )
    expect(writers.sort()).toEqual([
      'src/cli/commands/task.ts',
      'src/cli/demo/ledger-chapter.ts',
      'src/history/tasks.ts',
      'src/ledger/principals/act.ts',
      'src/server/handlers/tasks.ts',
    ])
    for (const file of [...writers, 'src/cli/history/text.ts', 'src/cli/call/home.ts']) {
      expect(readFileSync(file, 'utf8')).not.toMatch(/constitution|evaluation/)
    }
    const callers = sourceFiles('src').filter((file) =>
      /commands\/task\.ts|'\.\/task\.ts'/.test(readFileSync(file, 'utf8')),
    )
    expect(callers).toEqual(['src/cli/commands/table.ts'])
  }, 60_000)
})

function sourceFiles(root: string): string[] {
  return readdirSync(root, { recursive: true })
    .map((name) => `${root}/${String(name)}`)
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
}

describe('streams as tenants (L-7)', () => {
  it('answers for another’s stream exactly as for none', () => {
    const place = new Place('tenants').init()
    const north = place.token('device:pump-3@farm', 'north')
    const id = place.issue({}, ['--stream', 'north'])
    const other = place.issue({}, ['--stream', 'south'])
    expect(place.submit(id, north).status).toBe(0)
    expect(place.writ(['task', 'list', '--json'], { token: north }).json.tasks).toHaveLength(1)
    expect(codes(place.submit(other, north))).toEqual(['receipt.unknown_task'])
    for (const command of [['log'], ['task', 'list'], ['ledger', 'checkpoint'], ['replay']]) {
      const there = place.writ([...command, '--json', '--stream', 'south'], { token: north })
      const nowhere = place.writ([...command, '--json', '--stream', 'nowhere'], { token: north })
      expect(there.status).toBe(1)
      expect(there.out.replaceAll('south', 'X')).toBe(nowhere.out.replaceAll('nowhere', 'X'))
      expect(there.json.error.code).toBe('ledger.stream_unknown')
    }
    for (const stream of ['host', 'main']) {
      const refused = place.writ(['log', '--json', '--stream', stream], { token: north })
      expect(refused.json.error.code).toBe('ledger.stream_unknown')
    }
    const hidden = place.writ(['show', other, '--json'], { token: north })
    const absent = place.writ(['show', 'act-x', '--json'], { token: north })
    expect(hidden.out.replaceAll(other, 'X')).toBe(absent.out.replaceAll('act-x', 'X'))
    expect(place.writ(['show', id, '--json'], { token: north }).json.facts).toHaveLength(2)
    const human = place.token('human:bob@farm', 'north')
    const scoped = place.writ(['token', 'list', '--json'], { token: human })
    expect(scoped.json.error.code).toBe('principal.scope')
    expect(place.writ(['ledger', 'verify', '--json'], { token: north }).json.error.code).toBe(
      'principal.scope',
    )
  }, 90_000)
})
