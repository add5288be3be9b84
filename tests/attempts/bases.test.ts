/** Stages on stages (F-13): what an attempt sees of others that are not promoted, and when it may be. */
import { describe, expect, it } from 'vitest'
import { WHO } from '../sandbox/drive.ts'
import { Ground, type StepOrder } from './steps.ts'

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
