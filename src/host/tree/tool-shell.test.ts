/** A shell that stays: what tools are given and say arrives as it is, one after the other. */
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { build } from 'esbuild'
import { afterEach, describe, expect, it } from 'vitest'
import { ToolShell } from './tool-shell.ts'

const shells: ToolShell[] = []

function shell(): ToolShell {
  const made = new ToolShell()
  shells.push(made)
  return made
}

afterEach(() => {
  for (const made of shells.splice(0)) made.end()
})

function call(command: string, args: readonly string[], timeoutMs = 10_000) {
  return { command, args, cwd: '/', timeoutMs }
}

describe('a shell that stays', () => {
  it('hands over arguments as they are, and what was written where it was written', async () => {
    const own = shell()
    const odd = ["it's", 'two words', 'new\nline', '$HOME `id` \\', '', 'é']
    const outcome = await own.run(
      call('sh', ['-c', 'printf "%s|" "$@"; echo no >&2', 'sh', ...odd]),
    )
    expect(outcome?.stdout.toString()).toBe(`${odd.join('|')}|`)
    expect(outcome?.stderr.toString()).toBe('no\n')
    expect(outcome?.status).toBe(0)
  })

  it('tells each status, and of a tool that is not there', async () => {
    const own = shell()
    for (const status of [3, 0, 1]) {
      const outcome = await own.run(call('sh', ['-c', `exit ${status}`]))
      expect(outcome).toMatchObject({ status, stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) })
    }
    expect((await own.run(call('no-such-tool', [])))?.status).toBe(127)
  })

  it('runs in the directory it is given, with nothing on its input', async () => {
    const outcome = await shell().run({ ...call('sh', ['-c', 'pwd; cat']), cwd: '/usr' })
    expect(outcome?.stdout.toString()).toBe('/usr\n')
  })

  it('lets a reader follow a tool that succeeded, and hears only what it read', async () => {
    const own = shell()
    const reader = ['sh', '-c', 'cat; echo read; echo no >&2; exit 1']
    const done = await own.run({ ...call('sh', ['-c', 'echo told >&2']), reader })
    expect(done).toMatchObject({ status: 0, stdout: Buffer.from('read\n') })
    expect(done?.stderr.toString()).toBe('told\n')
    const other = ['sh', '-c', 'exit 3']
    expect((await own.run({ ...call('true', []), reader: other }))?.status).toBe(3)
    expect((await own.run({ ...call('true', []), reader: ['no-such-tool'] }))?.status).toBe(127)
    const failed = await own.run({ ...call('sh', ['-c', 'exit 7']), reader })
    expect(failed).toMatchObject({ status: 7, stdout: Buffer.alloc(0) })
  })

  it('carries more than a pipe holds', async () => {
    const outcome = await shell().run(call('head', ['-c', '3000000', '/dev/zero']))
    expect(outcome?.stdout.length).toBe(3_000_000)
  })

  it('ends a tool that takes too long, and itself', async () => {
    const own = shell()
    const outcome = await own.run(call('sleep', ['4711.25'], 200))
    expect(outcome?.status).toBeNull()
    expect(own.isOver).toBe(true)
    await expect.poll(() => isRunning('sleep\x004711.25')).toBe(false)
  })

  it('says so when it was killed', async () => {
    const own = shell()
    expect(await own.run(call('sh', ['-c', 'kill -KILL $PPID; sleep 0.2']))).toBeNull()
    expect(own.isFree).toBe(false)
  })
})

function isRunning(words: string): boolean {
  return readdirSync('/proc').some((name) => {
    try {
      return readFileSync(`/proc/${name}/cmdline`, 'utf8').startsWith(words)
    } catch {
      return false
    }
  })
}

it('keeps no process alive', async () => {
  const { outputFiles } = await build({
    stdin: {
      contents: `import { ToolShell } from './src/host/tree/tool-shell.ts'
        const { status } = await new ToolShell().run(
          { command: 'true', args: [], cwd: '/', timeoutMs: 5000 })
        process.stdout.write('status ' + status)`,
      resolveDir: process.cwd(),
    },
    bundle: true,
    format: 'esm',
    platform: 'node',
    write: false,
  })
  const text = outputFiles[0]?.text ?? ''
  const args = ['--input-type=module', '--eval', text]
  const ended = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 20_000 })
  expect(ended).toMatchObject({ status: 0, stdout: 'status 0' })
})
