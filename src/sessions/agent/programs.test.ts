/** The programs that a settle is attributed to. */
import { describe, expect, it } from 'vitest'
import { ProgramWatch } from './programs.ts'

describe('the programs of a session', () => {
  const running = new Map([
    [10, { parent: 1, argv: ['/usr/bin/claude', '--continue'] }],
    [11, { parent: 10, argv: ['bash', '-c', 'npm test'] }],
    [12, { parent: 11, argv: ['node', 'build.js', '--token', 's3cret', 'NPM_TOKEN=s3cret'] }],
    [13, { parent: 11, argv: [] }],
  ])

  it('have the names of those that started them, without secrets, until they are settled', () => {
    const watch = new ProgramWatch((pid) => running.get(pid) ?? null)
    watch.look([10, 11, 12, 13, 99])
    watch.look([10])
    expect(watch.seen).toEqual([
      'claude --continue',
      'claude > bash -c npm test',
      'claude > bash > node build.js --token … NPM_TOKEN=…',
    ])
    watch.clear()
    expect(watch.seen).toEqual([])
    watch.look([10])
    expect(watch.seen).toEqual(['claude --continue'])
  })

  it('are bounded in number and length', () => {
    const watch = new ProgramWatch((pid) => ({ parent: 0, argv: [`p${pid}`, 'x'.repeat(500)] }))
    watch.look(Array.from({ length: 200 }, (_, index) => index))
    const texts = watch.seen
    expect([texts.length, texts.every(({ length }) => length <= 160)]).toEqual([40, true])
  })

  it('are read from the machine', () => {
    const watch = new ProgramWatch()
    watch.look([process.pid])
    expect(watch.seen[0]).toMatch(/^node/)
  })
})
