/** Sandboxes that are begun before they are asked for: taken when they fit, let go when they do not. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { programFile, runProgram } from '../ledger/program.ts'
import { place } from './drive.ts'

describe.each([
  { backing: 'in memory', diskMb: 64 },
  { backing: 'on a disk', diskMb: 1024 },
])('a sandbox begun ahead, with layers $backing', ({ diskMb }) => {
  it('is taken by the request it was made for and by no other, and leaves nothing', async () => {
    const [own, root] = [place('root'), place('root')]
    mkdirSync(join(own, 'disk'))
    const watcher = pathToFileURL(await programFile('src/sandbox/supervision/watch.worker.ts')).href
    const order = { place: own, root, diskMb, watcher }
    const { lines, errors } = await runProgram('tests/sandbox/ahead.program.ts', order)
    expect(errors).toBe('')
    expect(JSON.parse(lines[0] ?? '{}')).toEqual({
      same: { exitCode: 0, text: 'bytes', isTaken: true, left: [] },
      otherMask: { exitCode: 0, text: '', isTaken: false, left: [] },
      otherCap: { exitCode: 0, text: 'bytes', isTaken: false, left: [] },
      unasked: { left: [] },
      impossible: { isOpened: 1 },
      // Of 48 made at once, three are taken each time, and no more are made.
      pipes: [45, 42],
      replacedRoot: { exitCode: 0, text: 'replaced', isTaken: false, left: ['fifos'] },
    })
  })
})
