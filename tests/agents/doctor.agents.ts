/** `writ hook doctor` on real hosts: what each fault of a hook ends in, as measured. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { type FaultTrial, tryFaults } from '../../src/hooks/index.ts'
import { hostNamed } from '../../src/hosts/index.ts'
import { ensureBuilt } from '../built.ts'
import { programOf } from './programs.ts'

const WANTED = (process.env['WRIT_AGENTS'] ?? '').split(',').filter((name) => name !== '')

/** Shell and edit tool, as measured. A host that is not there is tried by hand. */
const ENDS: Readonly<Record<string, Readonly<Record<string, string>>>> = JSON.parse(
  readFileSync('tests/agents/doctor.json', 'utf8'),
).ends

beforeAll(ensureBuilt, 120_000)

for (const name of Object.keys(ENDS)) {
  const isWanted = WANTED.length === 0 || WANTED.includes(name)
  it.runIf(isWanted)(`${name} ends as measured`, { timeout: 400_000 }, async () => {
    const host = hostNamed(name)
    if (host === null) throw new Error(name)
    const rows: FaultTrial[] = []
    const order = {
      host,
      program: programOf(name),
      writ: resolve('bin/writ.cjs'),
      plugins: resolve('bin/plugins'),
    }
    for await (const row of tryFaults(order)) rows.push(row)
    const found = rows.map(({ fault, shell, edit }) => [fault, `${shell}, ${edit}`])
    expect(Object.fromEntries(found)).toEqual(ENDS[name])
  })
}
