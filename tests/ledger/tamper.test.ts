/**
 * The tamper corpus (L-3): every manipulation is found by `verifyLedger`, and the independent verifier
 * agrees on every one that reaches an exported bundle. A slice by default; `WRIT_TAMPER_RUNS` is the
 * number of manipulations, `WRIT_SEED` where they start.
 */

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FaultError } from '../../src/base/index.ts'
import {
  exportBundle,
  openLedgerReader,
  type VerifyReport,
  verifyLedger,
} from '../../src/store/index.ts'
import { verifyBundle } from '../verifier/verify.mjs'
import { type Manipulation, manipulate } from './tamper.ts'
import { type Fixture, makeFixture, readText, STREAMS } from './tamper-ledger.ts'
import { scratch } from './test-ledger.ts'

const RUNS = Number(process.env['WRIT_TAMPER_RUNS'] ?? 50)
const SEED = Number(process.env['WRIT_SEED'] ?? 1)

let place: ReturnType<typeof scratch>
let fixture: Fixture
let honest: Readonly<Record<string, string>>

beforeAll(async () => {
  place = scratch()
  fixture = await makeFixture(place.directory)
  honest = await bundleSums(fixture.directory)
})

afterAll(() => place.remove())

const anchors = () => Object.values(fixture.anchors)

/** A ledger that cannot even be opened has been found out: null. */
async function verdict(
  directory: string,
  anchor?: readonly string[],
): Promise<VerifyReport | null> {
  try {
    const given = anchor === undefined ? {} : { anchor }
    const options = { contracts: true, pinnedKeys: fixture.pins, ...given }
    return await verifyLedger({ directory }, options)
  } catch (error) {
    if (error instanceof FaultError) return null
    throw error
  }
}

const bundleOf = (stream: string) => join(place.directory, 'bundles', stream)

/** Exports every stream; returns the sums of each bundle, and leaves out those that fail. */
async function bundleSums(directory: string): Promise<Record<string, string>> {
  const sums: Record<string, string> = {}
  rmSync(join(place.directory, 'bundles'), { recursive: true, force: true })
  try {
    const reader = openLedgerReader({ directory })
    try {
      for (const stream of STREAMS) {
        const options = { stream, bodies: true, nowMs: () => 0 }
        const dir = bundleOf(stream)
        const done = await exportBundle(reader, dir, options).catch((error: unknown) => {
          if (error instanceof FaultError) return null
          throw error
        })
        if (done !== null) sums[stream] = readText(join(dir, 'SHA256SUMS'))
      }
    } finally {
      await reader.close()
    }
  } catch (error) {
    if (!(error instanceof FaultError)) throw error
  }
  return sums
}

/** What was missed, in words; null when everybody agrees. */
async function missed(
  directory: string,
  { name, expect: wanted }: Manipulation,
  withBundles: boolean,
): Promise<string | null> {
  const plain = await verdict(directory)
  if (wanted === 'found' && plain?.ok === true) return `${name}: not found`
  if (wanted === 'anchor') {
    if (plain?.ok !== true || plain.anchored) return `${name}: alone ${JSON.stringify(plain)}`
    if ((await verdict(directory, anchors()))?.ok === true)
      return `${name}: not found with an anchor`
  }
  return withBundles ? missedInBundles(directory, name) : null
}

async function missedInBundles(directory: string, name: string): Promise<string | null> {
  const sums = await bundleSums(directory)
  for (const [stream, sum] of Object.entries(sums)) {
    if (sum === honest[stream]) continue
    reached++
    const anchor = fixture.anchors[stream] ?? null
    if (verifyBundle(bundleOf(stream), { keys: fixture.pins, anchor }).ok) {
      return `${name}: the bundle of ${stream} verifies`
    }
  }
  return null
}

let reached = 0

it('the independent verifier is a page of its own', () => {
  const source = readText('tests/verifier/verify.mjs')
  expect(source.split('\n').length - 1).toBeLessThanOrEqual(380)
  const imports = [...source.matchAll(/from '([^']+)'/g)].map(([, name]) => name)
  expect(imports.length).toBeGreaterThan(2)
  for (const name of imports) expect(name).toMatch(/^node:/)
})

describe('tampering', () => {
  it('is not seen where there is none', async () => {
    expect(await verdict(fixture.directory)).toMatchObject({
      ok: true,
      anchored: false,
      problems: [],
    })
    expect(await verdict(fixture.directory, anchors())).toMatchObject({ ok: true, anchored: true })
    for (const stream of STREAMS) {
      const anchor = fixture.anchors[stream] ?? ''
      const report = verifyBundle(bundleOf(stream), { keys: fixture.pins, anchor })
      expect(report).toMatchObject({ ok: true, anchored: true, problems: [] })
    }
  })

  it(`is found in ${RUNS} of ${RUNS} manipulations from seed ${SEED} on`, async () => {
    const failures: string[] = []
    const copy = join(place.directory, 'copy')
    for (let run = 0; run < RUNS; run++) {
      const manipulation = manipulate(SEED * 100_003 + run, run, copy, fixture)
      // A bundle takes longer than everything else; the slice looks at every third.
      const failure = await missed(copy, manipulation, RUNS > 500 || run % 3 === 0)
      if (failure !== null) failures.push(`${run} ${failure}`)
    }
    expect(failures).toEqual([])
    expect(reached).toBeGreaterThan(RUNS / 20)
  }, 3_600_000)
})
