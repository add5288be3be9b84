/** Sessions that end badly or at once: the reason is said, and nothing pending is lost. */
import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SessionPlace } from './session-place.ts'

let place: SessionPlace
let mounted: string | null = null
beforeEach(() => {
  place = new SessionPlace('bad-ends')
  place.commit({ 'a.txt': 'one\n', 'b.txt': 'two\n' })
}, 120_000)
afterEach(() => {
  if (mounted !== null) execFileSync('umount', ['-l', mounted])
  mounted = null
  place.remove()
})

describe('a session', { timeout: 120_000 }, () => {
  it('of an agent that exits at once settles what it did and has its status', () => {
    place.init()
    const run = (script: string) =>
      place.writ(['run', '--', 'bash', '-c', script], { isWarm: false })
    const failed = run('echo new > new.txt; exit 3')
    expect([failed.status, place.text('new.txt')], failed.err).toEqual([3, 'new\n'])
    const removed = run('rm b.txt')
    expect([removed.status, place.has('b.txt'), place.pending().length]).toEqual([0, true, 1])
    expect(removed.err).toMatch(/writ inbox|writ approve/)
    expect(place.sessions()).toHaveLength(1)
    const nothing = run('true')
    expect([nothing.status, nothing.err]).toEqual([0, ''])
  })

  it.runIf(process.getuid?.() === 0)(
    'whose view lies on a disk that fills ends the command and keeps what is pending',
    async () => {
      mounted = join(place.folder, 'state')
      mkdirSync(mounted, { recursive: true })
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=96m,mode=700', 'writ-test', mounted])
      place.init()
      const agent = place.agentRun(['--settle', 'never'])
      await agent.does('rm b.txt; echo kept > kept.txt')
      await agent.does('head -c 200000000 /dev/zero > large; echo "wrote $?"')
      expect(agent.out).toMatch(/wrote [1-9]/)
      await agent.hears(
        'the disk that holds them is nearly full, so the commands that ran were ended',
      )
      await agent.does('rm large; cat kept.txt')
      expect(agent.out).toContain('kept\n')
      const settled = place.writ(['session', 'settle'])
      expect([settled.status, place.text('kept.txt')], settled.err).toEqual([0, 'kept\n'])
      expect(place.pending()).toHaveLength(1)
      expect(await agent.ends()).toBe(0)
    },
  )
})
