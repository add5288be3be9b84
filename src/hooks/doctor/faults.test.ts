/** The faulty programs of the doctor: a trial means something only if they fail as they say. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { hostNamed } from '../../hosts/index.ts'
import { faultsOf, injectFault, writePrograms } from './faults.ts'

const folder = mkdtempSync(join(tmpdir(), 'writ-faults-'))
afterAll(() => rmSync(folder, { recursive: true }))
const REAL = join(folder, 'real.cjs')
writeFileSync(REAL, "module.exports = { start: () => process.stdout.write('{}') }")

async function tried(name: string): Promise<readonly unknown[]> {
  const codex = hostNamed('codex')
  const fault = codex && (await faultsOf(codex)).find((one) => one.name === name)
  if (!fault) throw new Error(name)
  const programs = writePrograms(folder, REAL, fault)
  injectFault(fault, folder, programs)
  const { status, stdout, signal, error } = spawnSync(programs.writ, ['hook', 'event'], {
    encoding: 'utf8',
    timeout: 3_000,
  })
  // The error of a program that cannot be started, or does not end, has a code.
  return [status, stdout, signal, (error as NodeJS.ErrnoException | undefined)?.code]
}

it.each([
  ['none', [0, '{}', null, undefined]],
  ['channel', [0, '{}', null, undefined]],
  ['crash', [1, '', null, undefined]],
  ['garbage', [0, 'ready {\n', null, undefined]],
  ['hang', [null, '', 'SIGTERM', 'ETIMEDOUT']],
  ['missing', [null, null, null, 'ENOENT']],
])('%s fails in each way it names', async (name, want) => {
  expect(await tried(name)).toEqual(want)
})

it('a command that is handed to writ leaves a mark and does not run', async () => {
  const codex = hostNamed('codex')
  const [none] = codex === null ? [] : await faultsOf(codex)
  if (none === undefined) throw new Error('no faults')
  for (const [program, words] of [
    ['writ', ['exec', '--ticket', 'x']],
    ['shell', [`echo x > ${folder}/ran`]],
    ['shell', ['-c', `echo x > ${folder}/ran`]],
  ] as const) {
    const programs = writePrograms(folder, REAL, none)
    expect(spawnSync(programs[program], words).status).toBe(0)
    expect([existsSync(programs.mark), existsSync(join(folder, 'ran'))]).toEqual([true, false])
    rmSync(programs.mark)
  }
})

it('a file of the repository has one key, and then all of them', async () => {
  await tried('.codex/config.toml features.hooks')
  expect(readFileSync(join(folder, '.codex/config.toml'), 'utf8')).toMatch(/hooks = false/)
  await tried('.codex/config.toml features.hooks, sandbox_mode')
  expect(readFileSync(join(folder, '.codex/config.toml'), 'utf8')).toMatch(/sandbox_mode = "danger/)
})
