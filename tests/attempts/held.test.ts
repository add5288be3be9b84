/** Attempts whose effects stay staged: begun, run, finished, and then promoted once or dropped. */
import { describe, expect, it } from 'vitest'
import { WHO } from '../sandbox/drive.ts'
import { Ground } from './steps.ts'

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
    expect([ground.text('a.txt'), ground.text('b.txt')]).toEqual(['new\n', 'b\n'])
  })
})
