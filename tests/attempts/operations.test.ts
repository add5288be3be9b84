/** Participants that are elsewhere: what they ask for is one act, composed and judged when they are done. */
import { describe, expect, it } from 'vitest'
import { WHO } from '../sandbox/drive.ts'
import { Ground, type StepOrder } from './steps.ts'

describe.each(WHO)('as %s', (who) => {
  it('several operations are a composite that is promoted and undone as one', async () => {
    const ground = new Ground(who)
    const { project } = ground
    ground.write('a.txt', 'a\n')
    const operate = (operation: object): StepOrder => ({ do: 'operate', name: 'one', operation })
    const done = await ground.steps(
      { do: 'begin', name: 'one' },
      operate({ type: 'FILE_READ', path: `${project}/a.txt` }),
      operate({ type: 'FILE_WRITE', path: `${project}/b/c.txt`, content: 'c\n' }),
      operate({
        type: 'COMMAND_EXECUTION',
        argv: ['sh', '-c', 'cat b/c.txt; exit 4'],
        cwd: project,
      }),
      operate({ type: 'FILE_WRITE', path: '/etc/passwd', content: 'x' }),
      operate({ type: 'FILE_MOVE', from: `${project}/a.txt`, to: `${project}/z.txt` }),
      { do: 'write', name: 'one', path: 'artifacts/n/1/answer.md', text: 'words\n' },
      { do: 'finish', name: 'one' },
      { do: 'promote', name: 'one' },
    )
    expect(done[1]?.ok.result.stdout).toBe('a\n')
    // The participant gets the failure and decides whether to continue.
    expect(done[3]?.ok).toMatchObject({ result: { exit_code: 4, stdout: 'c\n' } })
    expect(done[4]?.ok).toMatchObject({ decision: 'BLOCK', result: null })
    expect(done[7]?.ok.decision, JSON.stringify(done[7])).toMatchObject({ decision: 'PROMOTE' })
    expect(done[8]?.ok).toMatchObject({ promoted: true })
    expect([ground.text('z.txt'), ground.text('b/c.txt')]).toEqual(['a\n', 'c\n'])
    expect(ground.text('artifacts/n/1/answer.md')).toBe('words\n')
    const [undone] = await ground.steps({ do: 'rollback', name: 'one' })
    expect(undone?.ok).toMatchObject({ verified: true })
    expect([ground.text('a.txt'), ground.text('b/c.txt')]).toEqual(['a\n', null])
  })
})

/** The same code decides for every user: one of them will do. */
describe('as root alone', () => {
  const who = 'root'

  it('one artifact alone is one act, and too many operations are refused', async () => {
    const ground = new Ground(who)
    const { project } = ground
    const read = { type: 'FILE_READ', path: `${project}/a.txt` }
    const done = await ground.steps(
      { do: 'begin', name: 'one', writes: ['artifacts/**'] },
      { do: 'write', name: 'one', path: 'artifacts/a.bin', text: '\u0000\u0001' },
      { do: 'finish', name: 'one' },
      { do: 'promote', name: 'one' },
      { do: 'begin', name: 'two', limits: { memoryMb: 2, diskMb: 2 } },
      { do: 'operate', name: 'two', operation: read },
      { do: 'operate', name: 'two', operation: read },
      { do: 'operate', name: 'two', operation: read },
      { do: 'abandon', name: 'two' },
    )
    expect(done[3]?.ok).toMatchObject({ promoted: true })
    expect(ground.text('artifacts/a.bin')).toBe('\u0000\u0001')
    expect(done[7]?.ok).toEqual({ decision: 'BLOCK', codes: ['attempt.operations'], result: null })
  })

  it('what a law forbids is blocked before it runs', async () => {
    const ground = new Ground(who)
    const { project } = ground
    const done = await ground.steps(
      { do: 'begin', name: 'one' },
      { do: 'halt' },
      {
        do: 'operate',
        name: 'one',
        operation: { type: 'FILE_WRITE', path: `${project}/a`, content: 'x' },
      },
      { do: 'finish', name: 'one' },
      { do: 'resume' },
    )
    expect(done[2]?.ok).toMatchObject({ decision: 'BLOCK', codes: ['halted'], result: null })
    expect(done[3]?.ok).toMatchObject({ decision: null })
  })
})
