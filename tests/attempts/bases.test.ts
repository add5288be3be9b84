/** Stages on stages (F-13): what an attempt sees of others that are not promoted, and when it may be. */
import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { WHO } from '../sandbox/drive.ts'
import { Ground, type StepOrder } from './steps.ts'

const VOID = 'flow.stage_void'

function attempt(name: string, bases: readonly string[], command: string): readonly StepOrder[] {
  return [
    { do: 'begin', name, bases },
    { do: 'run', name, command },
    { do: 'finish', name },
  ]
}

describe.each(WHO)('as %s', (who) => {
  it('the view is the tree with the stages on it, and the diff is against that', async () => {
    const ground = new Ground(who)
    ground.write('keep.txt', 'keep\n')
    ground.write('old/gone.txt', 'gone\n')
    ground.write('old/stay.txt', 'stay\n')
    ground.write('dir/deep/x.txt', 'x\n')
    ground.write('swap', 'a file\n')
    const first = [
      'echo one > new.txt; chmod 640 new.txt; rm old/gone.txt; rm -r dir',
      'mkdir made; echo m > made/m.txt; rm swap; mkdir swap; echo s > swap/s.txt',
      'ln -s keep.txt link; ln new.txt twin.txt; chmod 700 old',
    ].join('\n')
    const second = [
      'ls -R | grep -v "^$"; cat new.txt made/m.txt swap/s.txt link; stat -c %a old new.txt',
      'echo two >> new.txt; rm made/m.txt; mkdir dir; echo again > dir/y.txt; rm -r swap; echo f > swap',
    ].join('\n')
    const done = await ground.steps(
      ...attempt('a', [], first),
      ...attempt('b', ['a'], second),
      { do: 'staged', bases: ['a', 'b'], path: 'new.txt' },
      { do: 'staged', bases: ['a'], path: 'new.txt' },
      { do: 'staged', bases: ['a'], path: 'old/gone.txt' },
      { do: 'staged', bases: ['a', 'b'], path: 'dir/deep/x.txt' },
      { do: 'staged', bases: ['a', 'b'], path: 'keep.txt' },
      { do: 'promote', name: 'b' },
      { do: 'promote', name: 'a' },
      { do: 'promote', name: 'b', answer: 'yes' },
    )
    const answers = done.filter((each) => !('question' in each))
    expect(answers[2]?.ok.decision, JSON.stringify(answers[2])).toMatchObject({
      decision: 'PROMOTE',
    })
    expect(answers[4]?.ok.stdout).toBe(
      [
        '.:\nkeep.txt\nlink\nmade\nnew.txt\nold\nswap\ntwin.txt\n./made:\nm.txt\n./old:\nstay.txt',
        './swap:\ns.txt\none\nm\ns\nkeep\n700\n640\n',
      ].join('\n'),
    )
    expect(answers[5]?.ok.result.diff).toMatchObject({
      counts: { added: 3, modified: 1, deleted: 3 },
    })
    expect(answers.slice(6, 11).map(({ ok }) => ok)).toEqual([
      'one\ntwo\n',
      'one\n',
      null,
      null,
      'keep\n',
    ])
    expect(answers[11]?.failure).toMatchObject({ code: 'flow.stage_void' })
    expect(answers[12]?.ok).toMatchObject({ promoted: true })
    expect(answers[13]?.ok, JSON.stringify(answers[13])).toMatchObject({ promoted: true })
    expect(ground.text('new.txt')).toBe('one\ntwo\n')
    expect([ground.text('dir/y.txt'), ground.text('swap')]).toEqual(['again\n', 'f\n'])
  })
})

/** The same code decides for every user: one of them will do. */
describe('as root alone', () => {
  const who = 'root'

  it('is void when a base is dropped, and when one is taken back after it was promoted', async () => {
    const ground = new Ground(who)
    const done = await ground.steps(
      ...attempt('a', [], 'echo a > a.txt'),
      ...attempt('b', ['a'], 'cat a.txt; echo b > b.txt'),
      { do: 'drop', name: 'a' },
      { do: 'begin', name: 'late', bases: ['a'] },
      { do: 'staged', bases: ['a', 'b'], path: 'b.txt' },
      { do: 'promote', name: 'b' },
      { do: 'held' },
      ...attempt('c', [], 'echo c > c.txt'),
      ...attempt('d', ['c'], 'cat c.txt; echo d > d.txt'),
      { do: 'promote', name: 'c' },
      { do: 'rollback', name: 'c' },
      { do: 'promote', name: 'd' },
      { do: 'promote', name: 'd' },
    )
    expect(done[4]?.ok.stdout).toBe('a\n')
    expect([done[7]?.failure.code, done[8]?.failure.code]).toEqual([VOID, VOID])
    expect(done[9]?.ok).toMatchObject({
      promoted: false,
      decision: { decision: 'BLOCK', code: VOID },
    })
    expect(done[10]?.ok).toEqual([])
    expect(done[15]?.ok.stdout).toBe('c\n')
    expect(done[19]?.ok).toMatchObject({
      promoted: false,
      decision: { decision: 'BLOCK', code: VOID },
    })
    expect(done[20]?.ok).toEqual(done[19]?.ok)
    expect([ground.text('b.txt'), ground.text('d.txt')]).toEqual([null, null])
  })

  it('a yes does not count for what its base has become since it was asked', async () => {
    const ground = new Ground(who)
    const done = await ground.steps(
      ...attempt('a', [], 'echo a > a.txt'),
      { do: 'begin', name: 'b', bases: ['a'], writes: ['.envrc'] },
      { do: 'run', name: 'b', command: 'cat a.txt > .envrc' },
      { do: 'finish', name: 'b' },
      { do: 'promote', name: 'a' },
      { do: 'promote', name: 'b' },
      { do: 'rollback', name: 'a' },
      { do: 'answer', name: 'b' },
    )
    expect(done.at(-1)?.ok).toMatchObject({
      promoted: false,
      decision: { decision: 'BLOCK', code: VOID },
    })
    expect(ground.text('.envrc')).toBe(null)
  })

  it('goes on when a base is promoted under it, and what it is based on has to be whole', async () => {
    const ground = new Ground(who)
    ground.write('shared.txt', '0\n')
    const done = await ground.steps(
      ...attempt('a', [], 'echo 1 >> shared.txt; echo a > a.txt'),
      ...attempt('b', ['a'], 'echo 2 >> shared.txt'),
      { do: 'begin', name: 'c', bases: ['a', 'b'] },
      { do: 'promote', name: 'a' },
      // A write to the promoted file in place does not reach the view.
      { do: 'shell', script: 'printf X > a.txt' },
      { do: 'run', name: 'c', command: 'cat shared.txt a.txt; echo 3 >> shared.txt' },
      { do: 'finish', name: 'c' },
      { do: 'begin', name: 'wrong', bases: ['b', 'b'] },
      { do: 'begin', name: 'after', bases: ['a', 'b'] },
      { do: 'run', name: 'after', command: 'cat shared.txt' },
      { do: 'abandon', name: 'after' },
      { do: 'promote', name: 'c' },
      { do: 'promote', name: 'b' },
      { do: 'promote', name: 'c' },
    )
    expect(done[9]?.ok.stdout).toBe('0\n1\n2\na\n')
    expect(done[10]?.ok.decision).toMatchObject({ decision: 'PROMOTE' })
    expect(done[11]?.failure.code).toBe('attempt.order')
    expect(done[13]?.ok.stdout).toBe('0\n1\n2\n')
    expect(done[15]?.failure.code).toBe(VOID)
    expect(done[17]?.ok, JSON.stringify(done[17])).toMatchObject({ promoted: true })
    expect(ground.text('shared.txt')).toBe('0\n1\n2\n3\n')
  })

  it('a base without what it is based on, or more than eight, is refused', async () => {
    const ground = new Ground(who)
    const names = Array.from({ length: 9 }, (_, index) => `n${index}`)
    const steps = names
      .slice(0, 8)
      .flatMap((name, index) => [
        ...attempt(name, names.slice(0, index), `ls; echo ${name} > ${name}.txt`),
      ])
    const done = await ground.steps(
      ...steps,
      { do: 'begin', name: 'gap', bases: ['n1'] },
      { do: 'begin', name: 'many', bases: names },
      ...attempt('n8', names.slice(0, 8), 'cat n*.txt'),
    )
    expect(done[24]?.failure.code).toBe('attempt.order')
    expect(done[25]?.failure.code).toBe('attempt.order')
    expect(done[27]?.ok.stdout).toBe(
      names
        .slice(0, 8)
        .map((name) => `${name}\n`)
        .join(''),
    )
  }, 60_000)
})

describe.each(WHO)('as %s', (who) => {
  it('odd names, closed files, attributes and links are carried into the view', async () => {
    const ground = new Ground(who)
    const first = [
      `printf x > "$(printf 'new\\nline')"; printf y > "$(printf 'caf\\351')"`,
      'printf z > closed; chmod 000 closed; mkdir shut; printf w > shut/in; chmod 500 shut',
      'setfattr -n user.mark -v yes "closed" 2>/dev/null || true; printf v > marked',
      'setfattr -n user.mark -v yes marked; ln marked twin; touch -d 2001-02-03T04:05:06 marked',
      'mkdir empty; ln -s nowhere dangling',
    ].join('\n')
    const second = [
      `cat "$(printf 'new\\nline')" "$(printf 'caf\\351')" shut/in; stat -c '%a %h' closed shut marked`,
      'getfattr --only-values -n user.mark marked; date -ur marked +%F; readlink dangling; ls -d empty',
      `rm "$(printf 'new\\nline')"; chmod 700 shut; rm shut/in; rmdir shut empty; rm -f closed`,
    ].join('\n')
    const done = await ground.steps(
      ...attempt('a', [], first),
      ...attempt('b', ['a'], second),
      { do: 'promote', name: 'a' },
      { do: 'promote', name: 'b' },
    )
    expect(done[4]?.ok.stdout, done[4]?.ok.stderr).toBe(
      'xyw0 1\n500 2\n644 2\nyes2001-02-03\nnowhere\nempty\n',
    )
    expect(done[7]?.ok, JSON.stringify(done[7])).toMatchObject({ promoted: true })
  })

  it('after a crash what was laid out for an attempt is swept up', async () => {
    const ground = new Ground(who)
    await ground.steps(...attempt('a', [], 'echo a > a.txt'))
    await ground.run(
      [
        { do: 'begin', name: 'b', bases: ['a'] },
        { do: 'run', name: 'b', command: 'sleep 60' },
      ],
      { killAfterMs: 200 },
    )
    const left = () =>
      execFileSync('find', [ground.folder, '-name', '*.upper'], { encoding: 'utf8' })
    expect(left()).not.toBe('')
    await ground.steps(...attempt('c', [], 'true'))
    expect(left()).toBe('')
  })
})
