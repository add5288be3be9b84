/** Warm sandboxes: fast, used once, and never for a machine that has changed meanwhile. */
import { chownSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { programFile, runProgram } from '../ledger/program.ts'
import { place, TEST_UID, userWrapper, WHO, type Who } from './drive.ts'

interface Turn {
  readonly stdout: string
  /** Its directories were there before it was asked for. */
  readonly isReady: boolean
  readonly exitCode: number
  readonly upper: string
}

async function turns(
  as: Who,
  root: string,
  steps: readonly (readonly [outside: string, inside: string])[],
): Promise<readonly Turn[]> {
  const watcher = pathToFileURL(await programFile('src/host/sandbox/watch.worker.ts')).href
  const order = { watcher, root, turns: steps.map(([outside, inside]) => ({ outside, inside })) }
  const { lines, errors } = await runProgram('tests/sandbox/pool.program.ts', order, {
    wrapper: userWrapper(as),
  })
  expect(errors).toBe('')
  return lines.map((line) => JSON.parse(line))
}

describe.each(WHO)('a pool of %s', (as) => {
  it('hands out sandboxes that are ready, each once', async () => {
    const root = place(as)
    const found = await turns(as, root, [
      ['', 'echo 1 > f; ls'],
      ['', 'ls; echo 2 > g'],
      ['', 'ls; echo 3 > h'],
    ])
    expect(found.map(({ stdout }) => stdout)).toEqual(['f\n', '', ''])
    expect(new Set(found.map(({ upper }) => upper)).size).toBe(3)
    expect(found.map(({ isReady }) => isReady)).toEqual([false, true, true])
    expect(readdirSync(root)).toEqual([])
  })

  it('sees edits, new and deleted files that came after it was made', async () => {
    const root = place(as)
    for (const name of ['a', 'b']) {
      writeFileSync(join(root, name), 'old')
      own(as, join(root, name))
    }
    const found = await turns(as, root, [
      ['', 'cat a b'],
      [`printf new > ${root}/a; rm ${root}/b; printf made > ${root}/c`, 'cat a c; ls'],
    ])
    expect(found.map(({ stdout }) => stdout)).toEqual(['oldold', 'newmadea\nc\n'])
  })

  it('throws away what was made for a root that was replaced', async () => {
    const top = place(as)
    const root = join(top, 'root')
    mkdirSync(root)
    writeFileSync(join(root, 'f'), 'first')
    own(as, root)
    const swap = `mv ${root} ${root}.old && mkdir ${root} && printf second > ${root}/f`
    const found = await turns(as, root, [
      ['', 'cat f'],
      [swap, 'cat f'],
    ])
    expect(found.map(({ stdout }) => stdout)).toEqual(['first', 'second'])
  })

  it('hides what has to be hidden, also when it appeared afterwards', async () => {
    const root = place(as)
    const found = await turns(as, root, [
      ['', 'cat secret 2>/dev/null; echo end'],
      [`printf SECRET > ${root}/secret`, 'cat secret 2>/dev/null; echo end'],
    ])
    expect(found.map(({ stdout }) => stdout)).toEqual(['end\n', 'end\n'])
  })
})

function own(as: Who, path: string): void {
  if (as === 'user') chownSync(path, TEST_UID, TEST_UID)
}
