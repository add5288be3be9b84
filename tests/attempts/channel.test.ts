/** The tool channel: descriptor 3 of a participant's process, and what it asks for over it. */
import { describe, expect, it } from 'vitest'
import { WHO } from '../sandbox/drive.ts'
import { Ground } from './steps.ts'

/** Says a line and prints the answer. */
const ASK =
  'ask() { printf "%s\\n" "$1" >&3; IFS= read -r answer <&3; printf "%s\\n" "$answer"; }\n'

describe.each(WHO)('as %s', (who) => {
  it('lines are answered in their order, one each', async () => {
    const ground = new Ground(who)
    const done = await ground.steps(
      { do: 'begin', name: 'one' },
      {
        do: 'run',
        name: 'one',
        command: `${ASK} ask first; ask 'a "b" \\c'; ask third`,
        echo: true,
      },
      { do: 'finish', name: 'one' },
    )
    expect(done[1]?.ok).toMatchObject({ exitCode: 0, stdout: 'first\na "b" \\c\nthird\n' })
    expect(done[2]?.ok.result).toMatchObject({
      execution: { status: 'SUCCESS' },
      side_effects: { background_processes: 0 },
    })
  })

  it('operations are carried out next to the process, on what both see', async () => {
    const ground = new Ground(who)
    ground.write('a.txt', 'from the tree\n')
    const write = {
      type: 'FILE_WRITE',
      path: `${ground.project}/b.txt`,
      content: 'by operation\n',
    }
    const command = {
      type: 'COMMAND_EXECUTION',
      argv: ['cat', 'a.txt', 'c.txt'],
      cwd: ground.project,
    }
    const script = [
      ASK,
      'echo own > c.txt',
      `ask '${JSON.stringify({ operation: write })}'`,
      'cat b.txt',
      `ask '${JSON.stringify({ operation: command })}'`,
    ].join('\n')
    const done = await ground.steps(
      { do: 'begin', name: 'one' },
      { do: 'run', name: 'one', command: script },
      { do: 'finish', name: 'one' },
      { do: 'promote', name: 'one' },
    )
    const lines = done[1]?.ok.stdout.split('\n')
    expect(JSON.parse(lines[0])).toEqual({
      decision: 'PROMOTE',
      codes: ['promote.ok'],
      result: { exit_code: 0, stdout: '', stderr: '', truncated: false },
    })
    expect(lines[1]).toBe('by operation')
    expect(JSON.parse(lines[2]).result.stdout).toBe('from the tree\nown\n')
    expect(done[3]?.ok).toMatchObject({ promoted: true })
    expect([ground.text('b.txt'), ground.text('c.txt')]).toEqual(['by operation\n', 'own\n'])
  })
})

/** The same code decides for every user: one of them will do. */
describe('as root alone', () => {
  const who = 'root'

  it('a line that is too long is skipped, and the next one is read', async () => {
    const ground = new Ground(who)
    const script = [
      'import socket, sys',
      's = socket.socket(fileno=3); f = s.makefile("rwb")',
      'for line in [b"x" * (1 << 20), b"y" * ((1 << 20) + 1), b"z" * 9000000, b"short"]:',
      '    f.write(line + b"\\n"); f.flush(); a = f.readline(); print(len(a), a[:40].decode().strip())',
    ].join('\n')
    const done = await ground.steps(
      { do: 'begin', name: 'one' },
      { do: 'run', name: 'one', command: ['python3', '-c', script], echo: true },
      { do: 'abandon', name: 'one' },
    )
    const { stdout, stderr } = done[1]?.ok ?? {}
    const lines = stdout.split('\n')
    expect(lines[0], stderr).toBe(`${(1 << 20) + 1} ${'x'.repeat(40)}`)
    expect(lines[1]).toContain('{"decision":"BLOCK","codes":["attempt')
    expect(lines[2]).toBe(lines[1])
    expect(lines[3]).toBe('6 short')
  })

  it('what the node may not do is blocked with its codes, not run, and on the record', async () => {
    const ground = new Ground(who)
    const { project } = ground
    ground.write('a.txt', 'a\n')
    const operations = [
      { type: 'FILE_WRITE', path: '/etc/passwd', content: 'x' },
      { type: 'FILE_WRITE', path: `${project}/elsewhere/x`, content: 'x' },
      { type: 'FILE_DELETE', paths: [`${project}/a.txt`] },
      { type: 'COMMAND_EXECUTION', argv: ['nohup', 'true'], cwd: project },
      { type: 'NO_SUCH_TYPE', path: 'x' },
      'nonsense',
      { type: 'FILE_WRITE', path: `${project}/out/x`, content: 'fine' },
    ]
    const asked = operations.map((operation) => `ask '${JSON.stringify({ operation })}'`)
    const done = await ground.steps(
      { do: 'begin', name: 'one', writes: ['out/**'] },
      { do: 'run', name: 'one', command: [ASK, ...asked].join('\n') },
      { do: 'finish', name: 'one' },
    )
    const answers = done[1]?.ok.stdout
      .trim()
      .split('\n')
      .map((line: string) => JSON.parse(line))
    const first = answers.map(({ decision, codes }: { decision: string; codes: string[] }) => [
      decision,
      codes[0],
    ])
    expect(first).toEqual([
      ['BLOCK', 'descriptor.operation_scope'],
      ['BLOCK', 'flow.access_denied'],
      ['BLOCK', 'flow.access_denied'],
      ['BLOCK', 'descriptor.background'],
      ['BLOCK', 'descriptor.operation_type'],
      ['BLOCK', expect.anything()],
      ['PROMOTE', 'promote.ok'],
    ])
    expect(answers.slice(0, 6).every(({ result }: { result: unknown }) => result === null)).toBe(
      true,
    )
    expect(done[2]?.ok.decision).toMatchObject({ decision: 'PROMOTE' })
    expect(done[2]?.ok.result.diff.counts).toEqual({ added: 2, modified: 0, deleted: 0 })
  })
})

describe.each(WHO)('as %s', (who) => {
  it('operations have their own input, output, exit and directory, and share caps and processes', async () => {
    const ground = new Ground(who)
    const { project } = ground
    ground.write('sub/here.txt', 'here\n')
    const command = (argv: readonly string[], more: object = {}) =>
      `ask '${JSON.stringify({ operation: { type: 'COMMAND_EXECUTION', argv, cwd: `${project}/sub`, ...more } }).replaceAll("'", `'\\''`)}'`
    const script = [
      ASK,
      'sleep 30 & background=$!',
      command(['sh', '-c', 'cat; ls; echo err >&2; exit 7'], { stdin: 'in\n' }),
      command(['sh', '-c', 'ls -l /proc/self/fd | wc -l; test -e /proc/self/fd/3 && echo leaked']),
      command(['sh', '-c', `printf '%s|' "$@"`, 'x', "it's", 'a\nb', '$HOME "q"', '']),
      command(['sh', '-c', 'head -c 400000 /dev/zero | tr "\\0" a']),
      command(['cat'], { stdin: 'b'.repeat(60_000) }),
      command(['sh', '-c', 'echo $VALUE'], { env: { VALUE: 'own' } }),
      command(['/no/such/program']),
      'kill $background',
    ].join('\n')
    const done = await ground.steps(
      { do: 'begin', name: 'one' },
      { do: 'run', name: 'one', command: script },
      { do: 'finish', name: 'one' },
    )
    const lines = done[1]?.ok.stdout.trim().split('\n')
    const results = lines.map((line: string) => JSON.parse(line).result)
    expect(results[0]).toEqual({
      exit_code: 7,
      stdout: 'in\nhere.txt\n',
      stderr: 'err\n',
      truncated: false,
    })
    expect(results[1].stdout).not.toContain('leaked')
    expect(results[2].stdout).toBe(`it's|a\nb|$HOME "q"||`)
    expect([results[3].stdout.length, results[3].truncated]).toEqual([262_144, true])
    expect(results[4].stdout.length).toBe(60_000)
    expect(results[5].stdout).toBe('own\n')
    expect(results[6].exit_code).toBe(127)
    expect(done[2]?.ok.result.side_effects.background_processes).toBe(0)
  })

  it('an operation under way ends before the attempt does', async () => {
    const ground = new Ground(who)
    const operation = {
      type: 'COMMAND_EXECUTION',
      argv: ['sh', '-c', 'touch begun; sleep 0.5; rm begun; echo late > late.txt'],
      cwd: ground.project,
    }
    const done = await ground.steps(
      { do: 'begin', name: 'one' },
      {
        do: 'run',
        name: 'one',
        command: `echo '${JSON.stringify({ operation })}' >&3; until [ -e begun ]; do sleep 0.02; done`,
      },
      { do: 'finish', name: 'one' },
    )
    expect(done[1]?.ok).toMatchObject({ exitCode: 0 })
    expect(done[2]?.ok.result.diff.added.map(({ path }: { path: string }) => path)).toEqual([
      `${ground.project}/late.txt`,
    ])
    expect(done[2]?.ok.decision).toMatchObject({ decision: 'PROMOTE' })
  })

  it('an operation that goes on is ended by the caps of the attempt', async () => {
    const ground = new Ground(who)
    const operation = { type: 'COMMAND_EXECUTION', argv: ['sleep', '60'], cwd: ground.project }
    const done = await ground.steps(
      { do: 'begin', name: 'one', limits: { seconds: 2 } },
      { do: 'run', name: 'one', command: `${ASK} ask '${JSON.stringify({ operation })}'` },
      { do: 'finish', name: 'one' },
      { do: 'begin', name: 'two' },
      {
        do: 'run',
        name: 'two',
        // A command that kills the side shell harms only itself.
        command: `echo '${JSON.stringify({ operation })}' >&3; sleep 0.3; kill -9 -1; exit 0`,
      },
      { do: 'finish', name: 'two' },
    )
    expect(done[1]?.ok).toMatchObject({ killedBy: 'duration' })
    expect(done[2]?.ok.decision).toMatchObject({ code: 'result.timeout' })
    expect(done[4]?.ok.killedBy).toBe(null)
  })
})
