/** What the machine offers: controls that are missing are refused, groups that are there are used. */
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { parseOwnGroups } from '../../src/sandbox/kernel/cgroup.ts'
import { probeMachine } from '../../src/sandbox/kernel/probe.ts'
import { programFile, runProgram } from '../ledger/program.ts'
import { drive, driveOne, place, TEST_UID, WHO } from './drive.ts'

describe('a missing control is a refusal', () => {
  it.each(WHO)('user namespaces, for %s', async (as) => {
    const root = place(as)
    // In a user namespace of its own the opener may forbid itself any further one.
    const forbid = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"'
    const wrapper = ['unshare', '-U', '-r', 'sh', '-c', forbid, 'sh']
    // Another user owns root's directory there, so the driver makes a new one and removes it.
    const made = (): readonly string[] =>
      readdirSync('/tmp').filter((name) => name.startsWith('writ-sandboxes-'))
    const before = made()
    const { failure, runs } = await drive({ as, root, wrapper, scripts: ['echo ran'] })
    // Another test may remove its own meanwhile.
    expect(made().filter((name) => !before.includes(name))).toEqual([])
    expect(failure).toMatchObject({ code: 'sandbox.control_missing', at: 'user_namespace' })
    expect(failure?.hint).toContain('user_namespaces')
    expect(runs).toEqual([])
  })

  it('perl, which mounts', async () => {
    // In a mount namespace of its own the opener sees a file there that cannot be executed.
    const hide = 'mount --bind /dev/null "$(readlink -f /usr/bin/perl)" && exec "$@"'
    const wrapper = ['unshare', '-m', 'sh', '-c', hide, 'sh']
    const { failure, runs } = await drive({
      as: 'root',
      root: place('root'),
      wrapper,
      scripts: ['echo ran'],
    })
    expect(failure).toMatchObject({ code: 'sandbox.control_missing', at: 'perl' })
    expect(failure?.hint).toBe('sudo apt-get install -y perl-base')
    expect(runs).toEqual([])
  })

  it('a filter that the kernel does not take', async () => {
    const { startFailure } = await import('../../src/sandbox/driver/failure.ts')
    const { fault } = startFailure('bwrap: prctl(PR_SET_SECCOMP): Invalid argument')
    expect(fault).toMatchObject({ code: 'sandbox.control_missing', at: 'bubblewrap' })
    expect(startFailure('something else').fault.code).toBe('sandbox.failed')
  })
})

describe('control groups', () => {
  // A user of this test alone: others run at the same time as the usual test user, without groups.
  const UID = TEST_UID + 1
  const own = parseOwnGroups(readFileSync('/proc/self/cgroup', 'utf8'))
  const places = ['memory', 'pids', 'cpuacct'].map((name) =>
    join('/sys/fs/cgroup', name, own.get(name) ?? '/', `writ-${UID}`),
  )

  it('that root made for an ordinary user are used', async () => {
    if (!existsSync('/sys/fs/cgroup/memory')) {
      // Version 2 delegates by other means; what is left to see is that nothing breaks.
      return
    }
    for (const place of places) {
      if (!existsSync(place)) mkdirSync(place)
      chownSync(place, UID, UID)
      for (const file of ['tasks', 'cgroup.procs']) chownSync(join(place, file), UID, UID)
    }
    try {
      const root = place('root')
      chownSync(root, UID, UID)
      const ids = [`--reuid=${UID}`, `--regid=${UID}`, '--clear-groups']
      const wrapper = ['setpriv', ...ids, 'env', `HOME=${root}`]
      const hog = `perl -e '$x .= "x" x 1048576 while 1'`
      const { outcome } = await driveOne(
        { as: 'root', wrapper, root, caps: { memoryMb: 48, diskMb: 16 } },
        hog,
      )
      expect(outcome).toMatchObject({ killedBy: 'memory' })
      expect(outcome.resources.enforcedBy).toMatchObject({ memory: 'kernel', processes: 'kernel' })
    } finally {
      for (const place of places) rmdirSync(place)
    }
  })
})

describe('the probe', () => {
  it('finds here what the other tests use', async () => {
    const probes = await probeMachine()
    expect(probes.filter(({ status }) => status === 'absent')).toEqual([])
    expect(probes.map(({ name }) => name)).toEqual([
      ...['bwrap', 'perl', 'unshare', 'mount', 'mkfifo', 'getfattr'],
      ...[
        'user_namespace',
        'mount_namespace',
        'network_namespace',
        'network_door',
        'pid_namespace',
      ],
      ...[
        'overlay_disk',
        'overlay_memory',
        'bubblewrap',
        'seccomp',
        'terminal',
        'directory_rename',
      ],
      ...['cap_memory', 'cap_processes', 'cap_cpu', 'cap_duration', 'cap_disk'],
    ])
    expect(existsSync('/tmp')).toBe(true)
  })
})

describe('a flood of output', () => {
  it('passes through without being kept', async () => {
    const watcher = pathToFileURL(await programFile('src/sandbox/supervision/watch.worker.ts')).href
    const order = { watcher, root: place('root'), bytes: 100_000_000 }
    const { lines, errors } = await runProgram('tests/sandbox/flood.program.ts', order)
    expect(errors).toBe('')
    const told = JSON.parse(lines[0] ?? '{}')
    expect(told).toMatchObject({ count: 100_000_000, exitCode: 0 })
    expect(told.grownMb).toBeLessThan(60)
  })
})

describe('closing', () => {
  it('kills what runs, whose outcome is still reported, and lets nothing run again', async () => {
    const watcher = pathToFileURL(await programFile('src/sandbox/supervision/watch.worker.ts')).href
    const order = { watcher, root: place('root') }
    const { lines, errors } = await runProgram('tests/sandbox/close.program.ts', order)
    expect(errors).toBe('')
    expect(JSON.parse(lines[0] ?? '{}')).toEqual({
      first: 'SIGKILL',
      second: 'sandbox.failed',
      third: 'sandbox.closed',
    })
  })
})
