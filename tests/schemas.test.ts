/** The published schemas: fresh, of one vocabulary, and agreeing with TypeBox's own compiler. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { Compile } from 'typebox/compile'
import { describe, expect, it } from 'vitest'
import { CODES } from '../src/base/index.ts'
import { pretty } from '../src/cli/commands/schema.ts'
import { CONTRACTS } from '../src/contracts/index.ts'
import { compileStructure } from '../src/contracts/kernel/compile.ts'
import { ensureBuilt } from './built.ts'
import { loadVectors } from './vectors/vector.ts'

describe('spec/schemas', () => {
  it('holds exactly the contracts of the registry', () => {
    const files = readdirSync('spec/schemas').sort()
    expect(files).toEqual(CONTRACTS.map(({ name }) => `${name}.json`).sort())
  })

  it.each(CONTRACTS.map((contract) => [contract.name, contract] as const))(
    '%s is fresh (writ schema --out spec/schemas)',
    (name, contract) => {
      expect(readFileSync(`spec/schemas/${name}.json`, 'utf8')).toBe(pretty(contract))
    },
  )

  it('are what the built program prints, whose builders are our own', () => {
    ensureBuilt()
    const folder = mkdtempSync(join(tmpdir(), 'writ-schemas-'))
    execFileSync(process.execPath, ['bin/writ.cjs', 'schema', '--out', folder])
    for (const { name } of CONTRACTS) {
      const [built, published] = [folder, 'spec/schemas'].map((place) =>
        readFileSync(join(place, `${name}.json`), 'utf8'),
      )
      expect(built).toBe(published)
    }
    rmSync(folder, { recursive: true })
  }, 180_000)

  it('names only codes of the page', () => {
    for (const contract of CONTRACTS) {
      const codes =
        JSON.stringify(JSON.parse(pretty(contract))).match(/(?<="x-code":")[^"]+/g) ?? []
      for (const code of codes) expect(CODES).toHaveProperty([code])
    }
  })
})

describe('our compiler and TypeBox’s', () => {
  const documents = loadVectors('spec/vectors/contracts', 'contracts/1').map(
    ({ document }) => document,
  )

  it.each(CONTRACTS.map((contract) => [contract.name, contract] as const))(
    'agree on %s',
    (_, contract) => {
      const ours = compileStructure(contract.schema)
      const theirs = Compile(contract.schema)
      for (const document of documents) expect(ours(document)).toBe(theirs.Check(document))
      fc.assert(
        fc.property(fc.jsonValue(), (document) => {
          expect(ours(document)).toBe(theirs.Check(document))
        }),
        { numRuns: 200 },
      )
    },
  )
})
