/** The driver as a whole: runs, layers, exits, pipes; as root and as an ordinary user. */
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
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
    const { runs } = await drive({
      as,
      root,
      scripts: ['echo 1 > a', 'cat a; echo 2 > b', 'cat a b'],
    })
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
