/** Participants without a process here: what the host writes for them needs no sandbox, and is judged alike. */
import { existsSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { SandboxResult } from '../../src/contracts/index.ts'
import { WHO } from '../sandbox/drive.ts'
import { Ground, type StepOrder } from './steps.ts'

const ANSWER = 'artifacts/n/1/answer.md'
const SHELF = 'no_process'

function begin(name: string, isElsewhere = true): StepOrder {
  return { do: 'begin', name, writes: ['artifacts/**', 'b.txt'], isElsewhere }
}

function write(name: string, path: string, text: string): StepOrder {
  return { do: 'write', name, path, text }
}

interface Held {
  readonly decision: { readonly decision: string; readonly codes: readonly string[] }
  readonly result: SandboxResult
  readonly paths: readonly string[]
}

function controlsOf(held: Held): readonly string[] {
  return held.result.controls.map(({ name }) => name)
}

/** Without what is the attempt's own, and what tells where its bytes lay meanwhile. */
function judged({ decision: { decision, codes }, result, paths }: Held): unknown {
  const { diff, findings, compliance, execution } = result
  const { status, exit_code } = execution
  return { decision, codes, diff, findings, compliance, paths, status, exit_code }
}

describe.each(WHO)('as %s', (who) => {
  it('an artifact is judged as one of a sandbox is, promoted, and taken back', async () => {
    const grounds = await Promise.all(
      [true, false].map(async (isElsewhere) => {
        const ground = new Ground(who)
        const done = await ground.steps(
          begin('one', isElsewhere),
          { do: 'read', name: 'one', path: ANSWER },
          write('one', ANSWER, 'words\n'),
          { do: 'read', name: 'one', path: ANSWER },
          { do: 'finish', name: 'one' },
          { do: 'shell', script: `test ! -e artifacts` },
          { do: 'promote', name: 'one' },
        )
        return { ground, done }
      }),
    )
    const [own, other] = grounds
    expect(controlsOf(own?.done[4]?.ok)).toEqual([SHELF])
    expect(controlsOf(other?.done[4]?.ok)).toContain('mount_namespace')
    for (const { ground, done } of grounds) {
      expect([done[1]?.ok, done[3]?.ok]).toEqual([null, 'words\n'])
      expect(done[6]?.ok).toMatchObject({ promoted: true })
      expect(ground.text(ANSWER)).toBe('words\n')
      const [undone] = await ground.steps({ do: 'rollback', name: 'one' })
      expect(undone?.ok).toMatchObject({ verified: true })
      expect(existsSync(join(ground.project, 'artifacts'))).toBe(false)
    }
    const shape = ({ ground, done }: (typeof grounds)[number]) =>
      JSON.stringify(judged(done[4]?.ok))
        .replaceAll(ground.project, 'PROJECT')
        .replaceAll(/"(?:manifest|mtime_ns)":"[^"]*"/g, '')
    expect(own && shape(own)).toBe(other && shape(other))
  })

  it('an operation opens a sandbox, in which the file of the host is seen', async () => {
    const ground = new Ground(who)
    const { project } = ground
    const copy = {
      type: 'COMMAND_EXECUTION',
      argv: ['cp', ANSWER, 'b.txt'],
      cwd: project,
    }
    const done = await ground.steps(
      begin('one'),
      write('one', ANSWER, 'words\n'),
      { do: 'operate', name: 'one', operation: copy },
      { do: 'read', name: 'one', path: ANSWER },
      { do: 'finish', name: 'one' },
      { do: 'promote', name: 'one' },
    )
    expect(done[2]?.ok).toMatchObject({ result: { exit_code: 0 } })
    expect(controlsOf(done[4]?.ok)).toContain('mount_namespace')
    expect(done[5]?.ok).toMatchObject({ promoted: true })
    expect([ground.text('b.txt'), ground.text(ANSWER)]).toEqual(['words\n', 'words\n'])
  })

  it('what lies in the way is left to a sandbox: a file, a link, a second file', async () => {
    const ground = new Ground(who)
    ground.write('artifacts/old.md', 'old\n')
    symlinkSync('artifacts', join(ground.project, 'led'))
    const done = await ground.steps(
      begin('file'),
      write('file', 'artifacts/old.md', 'new\n'),
      { do: 'finish', name: 'file' },
      begin('link'),
      write('link', 'led/new.md', 'new\n'),
      { do: 'abandon', name: 'link' },
      begin('two'),
      write('two', 'artifacts/1/a.md', 'a\n'),
      write('two', 'artifacts/2/b.md', 'b\n'),
      { do: 'finish', name: 'two' },
      { do: 'promote', name: 'two' },
    )
    expect(done[2]?.ok.result.diff.counts).toMatchObject({ added: 0, modified: 1 })
    expect(controlsOf(done[2]?.ok)).toContain('mount_namespace')
    expect(done[4]).toMatchObject({ failure: { code: 'diff.unsupported' } })
    expect(done[10]?.ok).toMatchObject({ promoted: true })
    expect(['1/a.md', '2/b.md'].map((path) => ground.text(`artifacts/${path}`))).toEqual([
      'a\n',
      'b\n',
    ])
  })

  it('a name that others take meanwhile is an interference, and nothing is left of a shelf', async () => {
    const ground = new Ground(who)
    const [, ...done] = await ground.steps(
      { do: 'shell', script: 'mkdir artifacts' },
      begin('one'),
      write('one', 'artifacts/a.md', 'a\n'),
      { do: 'shell', script: 'echo theirs > artifacts/a.md' },
      { do: 'finish', name: 'one' },
      { do: 'promote', name: 'one' },
      begin('two'),
      write('two', 'artifacts/b.md', 'b\n'),
      { do: 'abandon', name: 'two' },
    )
    expect(done[4]?.ok?.promoted).not.toBe(true)
    expect(ground.text('artifacts/a.md')).toBe('theirs\n')
    const names = readdirSync(join(ground.folder, 'state'), { recursive: true, encoding: 'utf8' })
    expect(names.filter((name) => name.endsWith('.upper'))).toEqual([])
  })
})
