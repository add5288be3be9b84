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

  it('operations are carried out beside the process, on what both see', async () => {
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
