/** Caps: each one kills the whole tree and is named; by the kernel where it can, else by supervision. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { drive, driveOne, place, WHO } from './drive.ts'

describe.each(WHO)('caps of a sandbox opened by %s', (as) => {
  it('CPU time counts every process together', async () => {
    const root = place(as)
    const { outcome } = await driveOne(
      { as, root, caps: { cpuMs: 400 } },
      'for i in 1 2 3; do sh -c "while :; do :; done" & done; wait',
    )
    expect(outcome).toMatchObject({ killedBy: 'cpu', exitCode: null, signal: 'SIGKILL' })
    expect(outcome.resources.cpuMs).toBeGreaterThanOrEqual(400)
    expect(outcome.resources.cpuMs).toBeLessThan(5_000)
  })

  it('wall time', async () => {
    const root = place(as)
    const { outcome } = await driveOne({ as, root, caps: { durationMs: 400 } }, 'sleep 30')
    expect(outcome).toMatchObject({ killedBy: 'duration', exitCode: null, backgroundProcesses: 0 })
    expect(outcome.resources.durationMs).toBeGreaterThanOrEqual(400)
    expect(outcome.resources.durationMs).toBeLessThan(25_000)
  })

  it('the grace for leftovers ends with the wall time', async () => {
    const root = place(as)
    const { outcome } = await driveOne({ as, root, caps: { durationMs: 500 } }, 'sleep 30 & exit 0')
    expect(outcome.resources.durationMs).toBeLessThan(25_000)
    expect(outcome.killedBy ?? outcome.backgroundProcesses).not.toBe(0)
  })

  it('memory', async () => {
    const root = place(as)
    const hog = `perl -e '$x .= "x" x 1048576 while 1'`
    const { outcome } = await driveOne(
      { as, root, caps: { memoryMb: 48, diskMb: 16 } },
      `${hog} & ${hog} & wait`,
    )
    expect(outcome.killedBy).toBe('memory')
    expect(outcome.resources.enforcedBy.memory).toBe(as === 'root' ? 'kernel' : 'polled')
    expect(outcome.resources.memoryPeakMb).toBeGreaterThan(40)
  })

  it('memory that processes share counts once', async () => {
    const root = place(as)
    const caps = { memoryMb: 96, diskMb: 16 }
    const copies = (work: string): string =>
      `perl -e '$x = "x" x 25000000; for (1..8) { next if fork; ${work} sleep 2; exit } 1 while wait > 0'`
    const forked = await driveOne({ as, root, caps }, copies(''))
    expect(forked.outcome).toMatchObject({ killedBy: null, exitCode: 0 })
    expect(forked.outcome.resources.memoryPeakMb).toBeLessThan(97)
    const mapped = await driveOne(
      { as, root, caps },
      `python3 -c '
import mmap, os, time
area = mmap.mmap(-1, 25000000)
for _ in range(8):
    if os.fork() == 0:
        for at in range(0, len(area), 4096): area[at] = 1
        time.sleep(2)
        os._exit(0)
for _ in range(8): os.wait()'`,
    )
    expect(mapped.outcome).toMatchObject({ killedBy: null, exitCode: 0 })
    const written = await driveOne({ as, root, caps }, copies('$x =~ tr/x/y/;'))
    expect(written.outcome.killedBy).toBe('memory')
  })

  it('processes', async () => {
    const root = place(as)
    const { outcome } = await driveOne(
      { as, root, caps: { processes: 12 } },
      'i=0; while [ $i -lt 60 ]; do sleep 5 & i=$((i+1)); done; wait',
    )
    expect(outcome.killedBy).toBe('processes')
    expect(outcome.resources.enforcedBy.processes).toBe(as === 'root' ? 'kernel' : 'polled')
    expect(outcome.resources.processes).toBeLessThan(24)
  })

  it('a fork bomb is contained', async () => {
    const root = place(as)
    const { outcome } = await driveOne(
      { as, root, caps: { processes: 40, durationMs: 5000 } },
      'bomb() { bomb | bomb & }; bomb; sleep 3',
    )
    // Without a counter the kernel only refuses: a bomb may burn out before it is looked at.
    expect(as === 'root' ? [outcome.killedBy] : ['processes', null]).toContain(outcome.killedBy)
    if (as === 'root') expect(outcome.killedBy).toBe('processes')
    expect(outcome.resources.processes).toBeLessThan(56)
  })

  it('disk in memory: bytes, in one file and in many', async () => {
    const root = place(as)
    const { outcome } = await driveOne(
      { as, root, caps: { diskMb: 8 } },
      'for i in 1 2 3 4; do head -c 3000000 /dev/zero > f$i; done; sleep 1',
    )
    expect(outcome.killedBy).toBe('disk')
    expect(outcome.resources.enforcedBy.disk).toBe('kernel')
    const one = await driveOne(
      { as, root, caps: { diskMb: 8 } },
      'exec head -c 30000000 /dev/zero > f',
    )
    expect(one.outcome.killedBy).toBe('disk')
  })

  it('disk in memory: private places and empty files count too', async () => {
    const root = place(as)
    const filled = await driveOne(
      { as, root, caps: { diskMb: 8 } },
      'for i in 1 2 3 4; do head -c 3000000 /dev/zero > /tmp/f$i; done; sleep 1',
    )
    expect(filled.outcome.killedBy).toBe('disk')
    const many = await driveOne(
      { as, root, caps: { diskMb: 1, durationMs: 15_000 } },
      `perl -e 'for (1..20000) { open F, ">", "f$_" or last }'; sleep 1`,
    )
    expect(many.outcome.killedBy).toBe('disk')
  })

  it('disk on a disk is supervised', async () => {
    const root = place(as)
    const disk = place(as, '/var/tmp')
    const { outcome } = await driveOne(
      { as, root, caps: { diskMb: 300 }, disks: [disk] },
      'for i in 1 2 3 4; do head -c 100000000 /dev/zero > f$i; done; sleep 3',
    )
    expect(outcome.killedBy).toBe('disk')
    expect(outcome.resources.enforcedBy.disk).toBe('polled')
    expect(existsSync(join(root, 'f1'))).toBe(false)
  })

  it('figures of an ordinary run are reported', async () => {
    const root = place(as)
    const { outcome } = await driveOne(
      { as, root },
      `head -c 2000000 /dev/zero > f; perl -e '$x = "x" x 30000000; for (1..3000000) { $y += $_ }'`,
    )
    const { cpuMs, memoryPeakMb, diskMb, processes } = outcome.resources
    expect(outcome.killedBy).toBe(null)
    expect(cpuMs).toBeGreaterThan(20)
    expect(memoryPeakMb).toBeGreaterThan(25)
    expect(diskMb).toBeGreaterThan(1.8)
    expect(diskMb).toBeLessThan(4)
    expect(processes).toBeGreaterThanOrEqual(1)
  })

  it('several runs share CPU and wall time', async () => {
    const root = place(as)
    const burn = 'perl -e \'use Time::HiRes "clock"; 1 while clock() < 0.25\''
    const { runs } = await drive({ as, root, caps: { cpuMs: 600 }, scripts: [burn, burn, burn] })
    expect(runs.map(({ outcome }) => outcome.killedBy)).toEqual([null, null, 'cpu'])
    const slept = await drive({
      as,
      root,
      caps: { durationMs: 900 },
      scripts: ['sleep 0.5', 'sleep 5'],
    })
    expect(slept.runs.map(({ outcome }) => outcome.killedBy)).toEqual([null, 'duration'])
  })

  it('an abort ends everything at once', async () => {
    const root = place(as)
    const { outcome } = await driveOne(
      { as, root, abortAfterMs: 300 },
      'setsid sleep 30 & sleep 30',
    )
    expect(outcome).toMatchObject({ aborted: true, killedBy: null, exitCode: null })
    expect(outcome.resources.durationMs).toBeLessThan(25_000)
  })
})
