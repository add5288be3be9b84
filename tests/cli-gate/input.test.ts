/**
 * The standard input of `writ exec` is copied to the command, from a file, a pipe or a socket; by root
 * and by an ordinary user. As with ssh, a loop over lines says `</dev/null` to keep them.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { TEST_UID, userWrapper, WHO } from '../sandbox/drive.ts'
import { Place } from './place.ts'

// Each test is several processes, and each of them a sandbox.
vi.setConfig({ testTimeout: 120_000 })

const LINES = 'one\ntwo\n'

describe.each(WHO)('the input of a command of %s', (who) => {
  let place: Place
  let through: readonly string[]

  beforeAll(() => {
    place = new Place(`input-${who}`)
    place.copyProgram()
    // The wrapper's last words set another home than the one of this test.
    through = who === 'user' ? userWrapper('user').slice(0, -2) : []
    chmodSync(place.folder, 0o755)
    writeFileSync(join(place.folder, 'list'), LINES)
    if (who === 'user') {
      execFileSync('chown', ['-R', `${TEST_UID}:${TEST_UID}`, place.folder])
    }
    const { status, err } = place.writ(['init', '--no-pass', '--name', 'ann'], {
      through,
      isWarm: true,
    })
    expect(status, err).toBe(0)
  }, 60_000)

  afterAll(() => place?.remove())

  /** A script of bash with `inside` for `writ exec --`. */
  function bash(script: string): readonly string[] {
    const words = place.argv(['exec', '--']).map((word) => `'${word}'`)
    const text = `inside() { ${words.join(' ')} "$@"; }\nLIST='${place.folder}/list'\n${script}`
    return [...through, 'bash', '-c', text]
  }

  /** What it says; its input comes over a socket. */
  function shell(script: string, input = ''): string {
    const [first = 'bash', ...rest] = bash(script)
    const { stdout, stderr, status } = spawnSync(first, rest, {
      cwd: place.project,
      env: place.env(),
      input,
      timeout: 60_000,
      encoding: 'utf8',
      maxBuffer: 1 << 27,
    })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    return stdout
  }

  const LOOP = 'while read -r line; do echo "$line"; inside true </dev/null; done'

  it.each([
    ['a file', `${LOOP} < "$LIST"`],
    ['a pipe', `cat "$LIST" | ${LOOP}`],
    ['a socket', LOOP],
  ])('a loop over %s goes on after a command without input', (_, script) => {
    expect(shell(script, LINES)).toBe(LINES)
  })

  it('all of a long stream arrives, and all of a large file', () => {
    const make = 'head -c 20000000 /dev/zero | tr "\\0" x > large'
    const script = `${make}; sha256sum < large; cat large | inside sha256sum; inside sha256sum < large`
    const [want, ...got] = shell(script).trimEnd().split('\n')
    expect(got).toEqual([want, want])
  })

  it('a program that waits for bytes is given some: by select, poll, epoll, a thread, the clock', () => {
    const program = [
      'import os, select, sys, threading, time',
      'def take(): os.write(1, os.read(0, 100))',
      'select.select([0], [], []); take()',
      'p = select.poll(); p.register(0, select.POLLIN); p.poll(); take()',
      'e = select.epoll(); e.register(0, select.EPOLLIN); e.poll(); take()',
      't = threading.Thread(target=take); t.start(); t.join()',
      'os.set_blocking(0, False)',
      'while True:',
      '  try: take(); break',
      '  except BlockingIOError: time.sleep(0.02)',
    ].join('\n')
    writeFileSync(join(place.project, 'waits.py'), program)
    const words = ['select', 'poll', 'epoll', 'thread', 'clock']
    const slowly = words.map((word) => `sleep 0.3; echo ${word}`).join('; ')
    const said = shell(`(${slowly}) | inside python3 waits.py`)
    expect(said).toBe(words.map((word) => `${word}\n`).join(''))
  })

  it('what is typed arrives, when the output is no terminal', () => {
    const argv = bash('inside sh -c \'read -r line; echo "inside: $line"\' | cat')
    const steps = [{ send: 'one\n' }, { expect: 'inside: one' }]
    expect(place.at(argv, steps)).toMatchObject({ failed: null, status: 0 })
  })

  it('a command that does not read ends, though its input stays open', () => {
    expect(shell('sleep 5 2>&- | inside echo done & wait $!')).toBe('done\n')
  })

  it('no input is an end, and what the kernel makes up is read', () => {
    expect(shell('inside cat < /dev/null; inside cat <&-; inside cat < .')).toBe('')
    expect(shell('inside cat < /proc/self/status')).toContain('Pid:')
  })

  it('a script that the shell outside is reading cannot be written to', () => {
    const attempt =
      'for fd in /proc/self/fd/0 /proc/1/fd/0 /dev/stdin; do echo echo ESCAPED > $fd; done'
    writeFileSync(join(place.project, 'attempt.sh'), `exec 2>&-; ${attempt}; exit 0\n`)
    const outer = 'inside sh attempt.sh\\necho went on\\n'
    const export_ = 'export -f inside'
    expect(shell(`${export_}; printf '${outer}' | bash`)).toBe('')
    expect(shell(`${export_}; printf '${outer}' > script; bash < script; cat script`)).toBe(
      outer.replaceAll('\\n', '\n'),
    )
  })
})
