/** What is unmistakably meant to outlive its run, and what is not. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DETACHERS, findDetachments, scanShell } from './detachment.ts'

function found(...argv: unknown[]): readonly string[] {
  const operation = { type: 'COMMAND_EXECUTION', argv, cwd: '/d/e' }
  return findDetachments(operation).map(({ kind, place, words }) => `${kind} ${place} ${words}`)
}

describe('detachment', () => {
  it.each([
    [['nohup', 'x'], 'background /argv/0 nohup'],
    [['/usr/bin/setsid', 'x'], 'background /argv/0 setsid'],
    [['sh', '-c', 'x &'], 'background /argv/2 &'],
    [['sh', '-c', 'x &\n'], 'background /argv/2 &'],
    [['sh', '-c', '(a; b) &'], 'background /argv/2 &'],
    [['bash', '-euo', 'pipefail', '-c', 'if true; then nohup x; fi'], 'background /argv/4 nohup'],
    [['busybox', 'sh', '-c', 'A=1 setsid x'], 'background /argv/3 setsid'],
    [['sh', '-c', 'echo a | at now'], 'background /argv/2 at'],
    [['crontab', '-'], 'persistence /argv/0 crontab'],
    [['systemctl', 'enable', 'x'], 'persistence /argv/0 systemctl'],
  ])('%j', (argv, want) => {
    expect(found(...argv)).toEqual([want])
  })

  it.each([
    [['echo', 'nohup', '&']],
    [['sh', 'script.sh', '-c', 'nohup x']],
    [['sh', '-c', 'a && b']],
    [['sh', '-c', 'a & b & wait']],
    [['sh', '-c', 'a > f 2>&1']],
    [['sh', '-c', 'a &> f']],
    [['sh', '-c', 'echo "x &"']],
    [['sh', '-c', 'echo a \\&']],
    [['sh', '-c', 'true # x &']],
    [['sh', '-c', 'cat <<E\nnohup x &\nE']],
    [['sh', '-c', 'echo $(x) &']],
    [['sh', '-c', 'grep nohup x']],
    [['sh', '-c', "echo 'unfinished &"]],
    [['sh', '-c']],
    [['crontab', '-l']],
    [['systemctl', 'status', 'x']],
    [['setsid', '-w', 'x']],
    [[]],
    [[7, null]],
  ])('not %j', (argv) => {
    expect(found(...argv)).toEqual([])
  })

  it('speaks of commands only', () => {
    expect(findDetachments({ type: 'FILE_READ', argv: ['nohup'] })).toEqual([])
    expect(findDetachments(null)).toEqual([])
  })

  it('has one row per program', () => {
    const programs = DETACHERS.map(({ program }) => program)
    expect(new Set(programs).size).toBe(programs.length)
  })
})

describe('the look at a shell text', () => {
  it('gives the words of simple commands', () => {
    expect(scanShell('A=1 x "a b" c\\ d; exec y | z\n').commands).toEqual([
      ['x', 'a b', 'c d'],
      ['y'],
      ['z'],
    ])
  })

  it('takes any text, and a long one quickly', () => {
    const unit = fc.constantFrom(...`ab &|;()<>$\`'"\\#\n{}`)
    fc.assert(
      fc.property(fc.string({ unit }), (text) => {
        scanShell(text)
      }),
    )
    for (const piece of ['a ', '& ', "'", '"a"', '\\', 'x;', '#\n', '(']) {
      scanShell(piece.repeat(500_000))
    }
  })
})
