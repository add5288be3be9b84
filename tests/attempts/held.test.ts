/** Attempts whose effects stay staged: begun, run, finished, and then promoted once or dropped. */
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { WHO } from '../sandbox/drive.ts'
import { Ground, type StepOrder } from './steps.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

function attempt(name: string, command: string, writes?: readonly string[]): readonly StepOrder[] {
  return [
    { do: 'begin', name, ...(writes === undefined ? {} : { writes }) },
    { do: 'run', name, command },
    { do: 'finish', name },
  ]
}

/** Asked about, since other programs run it by themselves. */
const ASKED = attempt('asked', 'echo new > .envrc', ['.envrc'])

/** The stages that lie in the state of a ground. */
function stagesOf(ground: Ground): readonly string[] {
  const state = join(ground.folder, 'state')
  const found = execFileSync('find', [state, '-name', 'stage.jsonl'], { encoding: 'utf8' })
  return found.split('\n').filter((line) => line !== '')
}

describe.each(WHO)('as %s', (who) => {
  it('nothing real changes before the promotion, and then all of it, once', async () => {
    const ground = new Ground(who)
    ground.write('a.txt', 'old\n')
    const done = await ground.steps(
      { do: 'begin', name: 'one' },
      { do: 'run', name: 'one', command: 'cat; echo new > a.txt; echo b > b.txt', stdin: 'hello' },
      { do: 'read', name: 'one', path: 'a.txt' },
      { do: 'finish', name: 'one' },
      { do: 'held' },
      { do: 'shell', script: 'cat a.txt; test -e b.txt || true' },
      { do: 'promote', name: 'one' },
      { do: 'promote', name: 'one' },
      { do: 'held' },
      { do: 'rollback', name: 'one' },
    )
    expect(done[1]?.ok).toMatchObject({ refused: null, exitCode: 0, stdout: 'hello' })
    expect(done[2]?.ok).toBe('new\n')
    expect(done[3]?.ok).toMatchObject({
      decision: { decision: 'PROMOTE' },
      result: { diff: { counts: { added: 1, modified: 1, deleted: 0 } } },
    })
    expect(done[4]?.ok).toEqual(['one'])
    expect(done[5]?.ok).toBe('old\n')
    expect(done[6]?.ok).toMatchObject({ promoted: true })
    expect(done[7]?.ok).toEqual(done[6]?.ok)
    expect(done[8]?.ok).toEqual([])
    expect(done[9]?.ok).toMatchObject({ verified: true })
    expect([ground.text('a.txt'), ground.text('b.txt')]).toEqual(['old\n', null])
    expect(stagesOf(ground)).toEqual([])
  })

  it('is promoted by another process, later, however long that takes', async () => {
    const ground = new Ground(who)
    await ground.steps(...attempt('one', 'echo x > a.txt'), ...attempt('two', 'echo y > b.txt'))
    // A promotion tidies up; what is held outlives that.
    const [first] = await ground.run([{ do: 'promote', name: 'one' }], { shiftMs: 48 * HOUR_MS })
    expect(first?.ok).toMatchObject({ promoted: true })
    expect(stagesOf(ground)).toHaveLength(1)
    const [second] = await ground.run([{ do: 'promote', name: 'two' }], { shiftMs: 49 * HOUR_MS })
    expect(second?.ok).toMatchObject({ promoted: true })
    expect([ground.text('a.txt'), ground.text('b.txt')]).toEqual(['x\n', 'y\n'])
  })

  it('is dropped, and then never promoted', async () => {
    const ground = new Ground(who)
    const done = await ground.steps(
      ...attempt('one', 'echo x > a.txt'),
      { do: 'drop', name: 'one' },
      { do: 'drop', name: 'one' },
      { do: 'promote', name: 'one' },
      { do: 'held' },
      { do: 'drop', name: 'never was' },
      { do: 'promote', name: 'never was' },
    )
    expect(done[5]?.ok).toMatchObject({
      promoted: false,
      decision: { decision: 'BLOCK', code: 'attempt.dropped', permanent: false },
    })
    expect([done[6]?.ok, ground.text('a.txt'), stagesOf(ground)]).toEqual([[], null, []])
    expect(done[8]?.failure).toMatchObject({ code: 'attempt.unknown' })
  })
})

/** The same code decides for every user: one of them will do. */
describe('as root alone', () => {
  const who = 'root'

  it('a human is asked when a caller wants the promotion, and not before', async () => {
    const ground = new Ground(who)
    const done = await ground.steps(...ASKED, { do: 'pending' })
    expect(done[2]?.ok.decision).toMatchObject({ decision: 'CONFIRM' })
    expect(done[3]?.ok).toEqual([])
    const later = { shiftMs: 5 * HOUR_MS }
    const waiting = await ground.run(
      [{ do: 'promote', name: 'asked' }, { do: 'pending' }, { do: 'held' }],
      later,
    )
    expect(waiting[0]).toMatchObject({
      codes: expect.arrayContaining(['effect.deferred_execution']),
    })
    expect(waiting[1]?.ok).toMatchObject({ promoted: false, pending: { id: expect.anything() } })
    expect(waiting[2]?.ok).toHaveLength(1)
    expect(waiting[3]?.ok).toEqual(['asked'])
    // Asking again finds the same question; a person answers it from the inbox.
    const [again, , answer, promoted] = await ground.run(
      [
        { do: 'promote', name: 'asked' },
        { do: 'answer', name: 'asked' },
        { do: 'promote', name: 'asked' },
      ],
      later,
    )
    expect(again).toMatchObject({ need: 'passphrase' })
    expect([answer?.ok.promoted, promoted?.ok.promoted]).toEqual([true, true])
    expect(ground.text('.envrc')).toBe('new\n')
  })

  it('a no ends it, and so does silence from the moment of the question on', async () => {
    const ground = new Ground(who)
    const denied = await ground.steps(
      ...ASKED,
      { do: 'promote', name: 'asked', answer: 'no' },
      { do: 'promote', name: 'asked', answer: 'yes' },
      { do: 'held' },
    )
    expect(denied.slice(-3).map(({ ok }) => ok.promoted)).toEqual([false, false, undefined])
    expect(denied.at(-1)?.ok).toEqual([])
    const silent = new Ground(who)
    await silent.steps(...ASKED)
    const asked = await silent.run([{ do: 'promote', name: 'asked' }], { shiftMs: HOUR_MS })
    expect(asked[1]?.ok.pending).toBeDefined()
    const shiftMs = 8 * 24 * HOUR_MS
    const [over] = await silent.run([{ do: 'promote', name: 'asked', answer: 'yes' }], { shiftMs })
    expect(over?.ok).toMatchObject({ promoted: false })
    expect([silent.text('.envrc'), stagesOf(silent)]).toEqual([null, []])
  })

  it('stays held through a halt, and ends by a conflict', async () => {
    const ground = new Ground(who)
    ground.write('a.txt', 'old\n')
    const done = await ground.steps(
      ...attempt('one', 'echo new > a.txt'),
      { do: 'halt' },
      { do: 'promote', name: 'one' },
      { do: 'resume' },
      { do: 'shell', script: 'echo other > a.txt' },
      { do: 'promote', name: 'one' },
      { do: 'shell', script: 'echo old > a.txt' },
      { do: 'promote', name: 'one' },
    )
    expect(done[4]?.failure).toMatchObject({ code: 'halted' })
    expect(done[7]?.ok.decision).toMatchObject({ decision: 'BLOCK', code: 'promote.conflict' })
    expect(done[9]?.ok.decision).toMatchObject({ decision: 'BLOCK', code: 'promote.conflict' })
    expect([ground.text('a.txt'), stagesOf(ground)]).toEqual(['old\n', []])
  })

  it('is promoted by the accepted laws while the file differs', async () => {
    const ground = new Ground(who)
    await ground.steps(...attempt('one', 'echo x > a.txt'))
    const laws = ground.text('.writ/laws.yaml') ?? ''
    ground.write('.writ/laws.yaml', `${laws}# changed\n`)
    const [promoted] = await ground.run([{ do: 'promote', name: 'one' }])
    expect(promoted?.ok).toMatchObject({ promoted: true })
  })

  it('is promoted by the laws of the day', async () => {
    const ground = new Ground(who)
    await ground.steps(...attempt('one', 'echo x > a.txt'), ...attempt('two', 'echo x > b.txt'))
    const law = (id: string, path: string, action: string, tier: number): string =>
      [
        `  - policy_id: ${id}`,
        `    tier: ${tier}`,
        `    policy_expr: touches('${ground.project}/${path}')`,
        '    priority: 50',
        '    conflicts_with: []',
        '    override_mode: merge',
        `    violation_action: ${action}`,
      ].join('\n')
    const added = [law('NO_A', 'a.txt', 'block', 1), law('ASK_B', 'b.txt', 'confirm', 2)]
    ground.write('.writ/laws.yaml', `laws:\n${added.join('\n')}\n`)
    await ground.steps({ do: 'accept' })
    const done = await ground.steps(
      { do: 'promote', name: 'one' },
      { do: 'promote', name: 'two', answer: 'yes' },
      { do: 'promote', name: 'one' },
      { do: 'held' },
    )
    const answers = done.filter((each) => !('question' in each)).map(({ ok }) => ok)
    expect(answers[0], JSON.stringify(answers[0])).toMatchObject({
      promoted: false,
      decision: { decision: 'BLOCK', code: 'law.NO_A' },
    })
    expect(done.some((each) => 'question' in each)).toBe(true)
    expect(answers[1]).toMatchObject({ promoted: true })
    expect([answers[2].promoted, answers[3]]).toEqual([false, []])
    expect([ground.text('a.txt'), ground.text('b.txt'), stagesOf(ground)]).toEqual([
      null,
      'x\n',
      [],
    ])
  })

  it('what the node did not declare is blocked for good, and nothing is staged', async () => {
    const ground = new Ground(who)
    const done = await ground.steps(
      ...attempt('one', 'mkdir out; echo x > out/a.txt; echo y > b.txt', ['out/**']),
      { do: 'held' },
      { do: 'promote', name: 'one' },
    )
    expect(done[2]?.ok.decision).toMatchObject({
      decision: 'BLOCK',
      code: 'effect.undeclared',
      permanent: true,
    })
    expect(done[3]?.ok).toEqual([])
    expect(done[4]?.ok).toMatchObject({ promoted: false })
    expect(stagesOf(ground)).toEqual([])
    expect(readdirSync(ground.project)).toEqual(['.writ'])
  })

  it('an attempt without anything leaves nothing, and one that was abandoned neither', async () => {
    const ground = new Ground(who)
    const done = await ground.steps(
      { do: 'begin', name: 'one' },
      { do: 'finish', name: 'one' },
      { do: 'begin', name: 'two' },
      { do: 'run', name: 'two', command: 'echo x > a.txt' },
      { do: 'abandon', name: 'two' },
      { do: 'held' },
      ...attempt('three', 'cat /etc/hostname'),
      { do: 'promote', name: 'three' },
    )
    expect(done[1]?.ok).toMatchObject({ proposalDigest: null, decision: null, result: null })
    expect(done[5]?.ok).toEqual([])
    // Without effects there is nothing to stage, and still something to promote.
    expect(done[8]?.ok.result.diff.counts).toEqual({ added: 0, modified: 0, deleted: 0 })
    expect(done[9]?.ok).toMatchObject({ promoted: true, promotion: { paths: [] } })
    expect([stagesOf(ground), readdirSync(ground.project)]).toEqual([[], ['.writ']])
  })
})

describe.each(WHO)('as %s', (who) => {
  it('a run that fails, takes too long or is stopped says so', async () => {
    const ground = new Ground(who)
    const done = await ground.steps(
      ...attempt('failed', 'echo x > a.txt; exit 3'),
      { do: 'begin', name: 'slow', limits: { seconds: 1 } },
      { do: 'run', name: 'slow', command: 'sleep 20' },
      { do: 'finish', name: 'slow' },
      { do: 'begin', name: 'stopped' },
      { do: 'run', name: 'stopped', command: 'echo x > a.txt; sleep 20', abortAfterMs: 300 },
      { do: 'finish', name: 'stopped' },
      { do: 'begin', name: 'refused' },
      { do: 'run', name: 'refused', command: 'nohup sleep 100' },
      { do: 'finish', name: 'refused' },
    )
    const answers = done.map(({ ok }) => ok)
    expect(answers[1]).toMatchObject({ exitCode: 3 })
    expect(answers[2].decision).toMatchObject({ decision: 'CONFIRM', code: 'result.failed' })
    expect(answers[4]).toMatchObject({ killedBy: 'duration' })
    expect(answers[5].decision).toMatchObject({ decision: 'BLOCK', code: 'result.timeout' })
    expect(answers[7]).toMatchObject({ aborted: true })
    expect(answers[8].decision).toMatchObject({ decision: 'BLOCK', code: 'result.policy_aborted' })
    expect(answers[10].refused).toMatchObject({ code: 'descriptor.background' })
    expect(answers[11]).toMatchObject({ result: null, decision: { decision: 'BLOCK' } })
  })

  it('secrets reach the process and nothing that is kept', async () => {
    const ground = new Ground(who)
    const secret = 'correct-horse-battery-staple'
    const done = await ground.steps(
      { do: 'begin', name: 'one', secrets: { MODEL_KEY: secret } },
      { do: 'run', name: 'one', command: 'echo "key $MODEL_KEY"; echo $MODEL_KEY >&2; env > x' },
      {
        do: 'operate',
        name: 'one',
        operation: { type: 'COMMAND_EXECUTION', argv: ['env'], cwd: ground.project },
      },
      { do: 'abandon', name: 'one' },
      { do: 'begin', name: 'two', secrets: { MODEL_KEY: secret } },
      { do: 'run', name: 'two', command: 'echo "key $MODEL_KEY"; echo $MODEL_KEY >&2' },
      { do: 'finish', name: 'two' },
    )
    expect(done[1]?.ok.stdout).toBe(`key ${secret}\n`)
    expect(done[2]?.ok.result.stdout).not.toContain(secret)
    expect(done[6]?.ok.result.outputs).toMatchObject({
      stdout: 'key [secret MODEL_KEY]\n',
      stderr: '[secret MODEL_KEY]\n',
    })
    const found = execFileSync('sh', [
      '-c',
      'grep -rlF "$1" "$2" || true',
      'sh',
      secret,
      ground.folder,
    ])
    expect(found.toString()).toBe('')
  })
})
