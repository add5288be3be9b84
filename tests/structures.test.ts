/** Schemas that are compiled when the program is built: all of them, with the answers of the sources. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { afterAll, expect, it } from 'vitest'
import { type Accepts, compileStructure } from '../src/contracts/kernel/compile.ts'
import { CONTRACTS } from '../src/contracts/registry.ts'
import { structures } from '../tools/structures.mjs'

const outdir = mkdtempSync(join(tmpdir(), 'writ-structures-test-'))
afterAll(() => rmSync(outdir, { recursive: true, force: true }))

const VECTORS = join('spec', 'vectors', 'contracts')

/** Documents that are valid by some contract, and values that are by none. */
function documents(): readonly unknown[] {
  const files = readdirSync(VECTORS).map((name) => readFileSync(join(VECTORS, name), 'utf8'))
  const bases = files.flatMap((text) => {
    const { bases = {} } = JSON.parse(text) as { bases?: Record<string, unknown> }
    return Object.values(bases)
  })
  const short = bases.map((base) => Object.fromEntries(Object.entries(base as object).slice(1)))
  const long = bases.map((base) => ({ ...(base as object), other: 1 }))
  return [...bases, ...short, ...long, {}, [], null, 1, 'text']
}

it('are there for every contract and say what the sources say', async () => {
  const common = {
    absWorkingDir: process.cwd(),
    outdir,
    outbase: 'src',
    bundle: true,
    format: 'esm',
    platform: 'node',
    alias: { typebox: './src/contracts/kernel/plain-types.ts' },
  } as const
  const entry = join('src', 'contracts', 'kernel', 'made-ahead.ts')
  await build({
    ...common,
    entryPoints: [entry],
    entryNames: 'made',
    outExtension: { '.js': '.mjs' },
    plugins: [await structures(common)],
  })
  const { MADE_AHEAD } = (await import(pathToFileURL(join(outdir, 'made.mjs')).href)) as {
    MADE_AHEAD: ReadonlyMap<string, () => Accepts>
  }
  expect([...MADE_AHEAD.keys()].sort()).toEqual(CONTRACTS.map(({ name }) => name).sort())
  const all = documents()
  let accepted = 0
  for (const { name, schema } of CONTRACTS) {
    const [made, own] = [MADE_AHEAD.get(name)?.(), compileStructure(schema)]
    for (const document of all) {
      expect(made?.(document)).toBe(own(document))
      if (own(document)) accepted++
    }
  }
  expect(accepted).toBeGreaterThan(CONTRACTS.length / 2)
})
