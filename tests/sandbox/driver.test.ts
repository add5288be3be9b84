/** The driver as a whole: runs, layers, exits, pipes; as root and as an ordinary user. */
import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { drive, driveOne, place, WHO } from './drive.ts'

describe.each(WHO)('a sandbox opened by %s', (as) => {
  it('shows the real tree, keeps writes in the upper, and changes nothing real', async () => {
    const root = place(as)
    writeFileSync(join(root, 'old'), 'old')
    const { stdout, outcome, uppers } = await driveOne(
      { as, root },
      'cat old; echo new > made; rm old; mkdir -p d/e; pwd',
    )
    expect(stdout).toBe(`old${root}\n`)
    expect(outcome).toMatchObject({ exitCode: 0, signal: null, killedBy: null, aborted: false })
    expect(uppers).toEqual([{ root, entries: ['d', 'd/e', 'made', 'old'] }])
    expect(readdirSync(root)).toEqual(['old'])
  })

  it('runs several commands on the same layers', async () => {
    const root = place(as)
    const { runs, held } = await drive({
      as,
      root,
      scripts: ['echo 1 > a', 'cat a; echo 2 > b', 'cat a b'],
    })
    expect(held).toEqual([])
    expect(runs.map(({ stdout }) => stdout)).toEqual(['', '1\n', '1\n2\n'])
    expect(existsSync(join(root, 'a'))).toBe(false)
  })

  it('tells exit codes from signals', async () => {
    const root = place(as)
    const scripts = ['exit 7', 'kill -TERM $$', 'exit 137', 'kill -PIPE $$', 'no-such-command']
    const { runs } = await drive({ as, root, scripts })
    expect(runs.map(({ outcome: { exitCode, signal } }) => [exitCode, signal])).toEqual([
      [7, null],
      [null, 'SIGTERM'],
      [137, null],
      [null, 'SIGPIPE'],
      [127, null],
    ])
  })
})

describe.each([
  ['without a terminal', undefined],
  ['with one', { rows: 20, columns: 80 }],
] as const)('a signal before the command began, %s', (_, terminal) => {
  it('means no process, and the next run neither', async () => {
    const root = place('root')
    const { runs } = await drive({
      as: 'root',
      root,
      scripts: ['echo one; exit 3', 'echo two; exit 4'],
      signalAtDoor: 'SIGTERM',
      ...(terminal === undefined ? {} : { terminal }),
    })
    expect(runs.map(({ stdout, outcome }) => [stdout.trim(), outcome.exitCode])).toEqual([
      ['one', 3],
      ['two', 4],
    ])
  })
})

describe.each(WHO)('a terminal inside, for %s', (as) => {
  it('is the command’s own, with size, /dev/tty and one stream', async () => {
    const root = place(as)
    const { stdout, stderr, outcome } = await driveOne(
      { as, root, terminal: { rows: 33, columns: 99 } },
      'stty size; tty; echo to-tty > /dev/tty; echo to-err >&2; exit 5',
    )
    expect(stdout.replaceAll('\r', '')).toBe('33 99\n/dev/pts/0\nto-tty\nto-err\n')
    expect(stderr).toBe('')
    expect(outcome).toMatchObject({ exitCode: 5, backgroundProcesses: 0, killedBy: null })
  })

  it('is one run’s alone among others in the same sandbox', async () => {
    const root = place(as)
    const { runs } = await drive({
      as,
      root,
      scripts: ['tty; echo $$; exit 3', 'tty; exit 4', 'tty; echo $$; exit 5'],
      terminals: [null, { rows: 20, columns: 80 }, null],
    })
    expect(runs.map(({ stdout }) => stdout.replaceAll('\r', ''))).toEqual([
      'not a tty\n2\n',
      '/dev/pts/0\n',
      'not a tty\n2\n',
    ])
    expect(runs.map(({ outcome }) => outcome.exitCode)).toEqual([3, 4, 5])
  })

  it('takes a new size while the command runs', async () => {
    const root = place(as)
    const resize = { rows: 50, columns: 120, afterMs: 150 }
    const { stdout } = await driveOne(
      { as, root, terminal: { rows: 20, columns: 80, resize } },
      'trap "stty size; exit" WINCH; stty size; i=0; while [ $i -lt 50 ]; do sleep 0.1; i=$((i+1)); done',
    )
    expect(stdout.replaceAll('\r', '')).toBe('20 80\n50 120\n')
  })

  it('forwards signals to the foreground', async () => {
    const root = place(as)
    const { stdout, outcome } = await driveOne(
      { as, root, terminal: { rows: 20, columns: 80 }, signal: { name: 'SIGINT', afterMs: 300 } },
      'trap "echo caught; exit 9" INT; i=0; while [ $i -lt 50 ]; do sleep 0.1; i=$((i+1)); done',
    )
    expect(stdout).toContain('caught')
    expect(outcome.exitCode).toBe(9)
  })
})

describe.each(WHO)('streams of %s', (as) => {
  it('are real pipes: what writes to /dev/stdout can open it', async () => {
    const root = place(as)
    const { stdout, stderr } = await driveOne(
      { as, root },
      'echo one > /dev/stdout; echo two > /dev/stderr; [ -p /proc/self/fd/1 ] && echo pipe',
    )
    expect([stdout, stderr]).toEqual(['one\npipe\n', 'two\n'])
  })

  it('stdin arrives whole and ends', async () => {
    const root = place(as)
    const stdin = { text: 'line\n', times: 200_000 }
    const { stdout } = await driveOne({ as, root, stdin }, 'wc -c; cat | wc -c')
    expect(stdout).toBe('1000000\n0\n')
  })

  it('a command that reads nothing does not wait for its input', async () => {
    const root = place(as)
    const { outcome } = await driveOne({ as, root, stdin: { text: 'x', times: 500_000 } }, 'exit 0')
    expect(outcome.exitCode).toBe(0)
  })
})

describe.each(WHO)('mounted for %s', (as) => {
  it('has the same mounts, modes and masks', async () => {
    const root = place(as)
    const [hidden, banned, odd] = ['hidden', 'banned', "od d#'\\"].map((name) => join(root, name))
    for (const path of [hidden, banned, odd]) writeFileSync(path ?? '', 'SECRET')
    mkdirSync(join(root, 'shut'))
    chmodSync(root, 0o2751)
    const { stdout, outcome } = await driveOne(
      {
        as,
        root,
        request: {
          hidden: [hidden ?? '', odd ?? '', join(root, 'shut')],
          banned: [banned ?? ''],
        },
      },
      'stat -c %a . /tmp; cat hidden od*; cat banned; echo x > hidden; echo x > shut/x; echo new > made; df --output=fstype . | tail -1',
    )
    expect(stdout).toBe('2751\n1777\noverlay\n')
    expect(outcome.exitCode).toBe(0)
    expect(readdirSync(root).sort()).toEqual(['banned', 'hidden', "od d#'\\", 'shut'])
  })

  it('refuses a root that carries attributes of overlays', async () => {
    const root = place(as)
    spawnSync('setfattr', ['-n', 'user.overlay.opaque', '-v', 'y', root])
    const { failure } = await drive({ as, root, scripts: ['true'] })
    expect(failure).toMatchObject({ code: 'sandbox.overlay_attributes', at: root })
  })

  it('dies with who opened it', async () => {
    const root = place(as)
    const mark = `7${process.pid}${WHO.indexOf(as)}`
    await drive({ as, root, scripts: [`sleep ${mark}`], killAfterMs: 400 })
    const left = (): string => spawnSync('pgrep', ['-f', `sleep ${mark}`]).stdout.toString()
    await expect.poll(left, { timeout: 10_000 }).toBe('')
  })
})

describe('mounted with owners of all kinds', () => {
  it('keeps them', async () => {
    const root = place('root')
    writeFileSync(join(root, 'theirs'), 'x')
    chownSync(join(root, 'theirs'), 12_345, 23_456)
    chownSync(root, 54_321, 54_322)
    const { stdout } = await driveOne(
      { as: 'root', root, request: { allOwners: true } },
      'stat -c "%u %g" . theirs; chown 11:12 theirs; stat -c "%u %g" theirs',
    )
    expect(stdout).toBe('54321 54322\n12345 23456\n11 12\n')
  })
})
