/**
 * The order of sync calls, from a trace of system calls: `kill -9` cannot show it, as the kernel lives
 * on. The intent is durable before the first change, changes are durable before the fact, the fact is
 * durable before the journal says so; and many files do not mean many syncs.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runProgram } from '../ledger/program.ts'
import type { ActInput } from './act.program.ts'
import { makeRig, type Rig, rehearse } from './rig.ts'

let rig: Rig
beforeEach(() => {
  rig = makeRig('trace')
})
afterEach(() => rig.remove())

const CALLS = 'fsync,fdatasync,syncfs,sync,rename,renameat,renameat2,link,linkat,write,pwrite64'

interface Call {
  readonly name: string
  readonly text: string
}

/** System calls that ended well, in their order; paths of open files are shown. */
async function trace(input: ActInput): Promise<readonly Call[]> {
  if (spawnSync('strace', ['-V']).status !== 0) {
    throw new Error('the order of sync calls needs strace: apt-get install strace')
  }
  const file = join(rig.base, 'trace')
  const wrapper = ['strace', '-f', '-y', '-qq', '-s', '200', '-e', `trace=${CALLS}`, '-o', file]
  const { lines, errors } = await runProgram('tests/promotion/act.program.ts', input, { wrapper })
  expect({ last: lines.at(-1), errors }).toEqual({ last: 'done', errors: '' })
  const calls: Call[] = []
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const [, name = '', text = ''] = /^\d+\s+(?:<\.\.\. )?(\w+)(.*)$/.exec(line) ?? []
    // A call of a thread that others came in between of is shown in two halves.
    if (name !== '' && !/= -1 E/.test(text)) calls.push({ name, text })
  }
  return calls
}

async function promotion(change: (root: string) => void): Promise<ActInput> {
  const rehearsed = await rehearse(rig, change)
  const file = join(rig.base, 'rehearsed.json')
  writeFileSync(file, JSON.stringify(rehearsed))
  return { base: rig.base, act: 'promote', rehearsed: file, quiet: true }
}

const isSync = ({ name }: Call): boolean => /^(?:fsync|fdatasync|syncfs|sync)$/.test(name)
/** Something at a real path changes: those are reached through an open directory. */
const isChange = ({ name, text }: Call): boolean =>
  /^(?:rename|link)/.test(name) && text.includes('/proc/self/fd/')

describe('sync calls', () => {
  it('come in the order that the promise needs', async () => {
    mkdirSync(join(rig.tree, 'd'))
    for (const name of ['a', 'd/b', 'gone']) writeFileSync(join(rig.tree, name), 'old')
    const calls = await trace(
      await promotion((root) => {
        for (const name of ['a', 'd/b', 'new']) writeFileSync(join(root, name), 'new')
        rmSync(join(root, 'gone'))
      }),
    )
    const [first, last] = [calls.findIndex(isChange), calls.findLastIndex(isChange)]
    expect(first).toBeGreaterThan(0)
    const synced = (path: RegExp, from: number, to: number): boolean =>
      calls.slice(from, to).some((call) => isSync(call) && path.test(call.text))
    const recorded = calls.findIndex(
      ({ name, text }) => name === 'write' && /facts\.jsonl/.test(text),
    )
    const noted = calls.findIndex(({ text }) => /\.journal/.test(text) && text.includes('recorded'))
    expect({
      plan: synced(/plan\.jsonl/, 0, first),
      keep: synced(/preimages\/[-0-9a-f]+>/, 0, first),
      keepName: synced(/preimages>/, 0, first),
      intent: synced(/\.journal>/, 0, first),
      intentName: synced(/state\/journal>/, 0, first),
      displaced: synced(/preimages\/[-0-9a-f]+>/, last, recorded),
      root: synced(/\/tree>/, last, recorded),
      inner: synced(/\/tree\/d>/, last, recorded),
      applied: synced(/\.journal>/, last, recorded),
      fact: synced(/facts\.jsonl>/, recorded, noted),
    }).toEqual({
      plan: true,
      keep: true,
      keepName: true,
      intent: true,
      intentName: true,
      displaced: true,
      root: true,
      inner: true,
      applied: true,
      fact: true,
    })
    // The last sync of a directory comes before the mark, and the mark before the record.
    const mark = calls.findIndex(({ text }) => /\.journal/.test(text) && text.includes('applied'))
    expect(synced(/\/tree>/, last, mark)).toBe(true)
    expect(mark).toBeLessThan(recorded)
  }, 60_000)

  it('are no more than 8 and one for each directory, however many files there are', async () => {
    const directories = ['one', 'two', 'three']
    for (const name of directories) mkdirSync(join(rig.tree, name))
    const names = directories.flatMap((name) =>
      Array.from({ length: 60 }, (_, index) => `${name}/${index}`),
    )
    for (const name of names) writeFileSync(join(rig.tree, name), 'old')
    const calls = await trace(
      await promotion((root) => {
        for (const name of names) writeFileSync(join(root, name), 'new')
      }),
    )
    const own = calls.filter((call) => isSync(call) && !/facts\.jsonl|resumed/.test(call.text))
    expect(calls.filter(isChange).length).toBeGreaterThanOrEqual(2 * names.length)
    expect(own.length).toBeLessThanOrEqual(8 + directories.length)
  }, 60_000)
})
