/**
 * The memory of writ itself for acts with many changes: what an entry takes at the peak is bounded, for
 * an act and for taking it back.
 *
 * `WRIT_MEMORY_FILES` makes the soak out of the slice.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { type Ended, Place } from './place.ts'

const SECONDS = 1800
vi.setConfig({ testTimeout: SECONDS * 2000 })

const FEW = 5_000
const MANY = Number(process.env['WRIT_MEMORY_FILES'] ?? 40_000)
/** Of the largest resident size; what lives of an entry is a third of that. */
const ENTRY_BYTES_MAX = 2_000
const PEAK_MB_MAX = MANY > 40_000 ? 300 : 200
const PEAK = join(process.cwd(), 'tests', 'cli-gate', 'peak.py')

let place: Place

beforeAll(() => {
  place = new Place('memory').init()
}, 180_000)

afterAll(() => place?.remove())

interface Measured extends Ended {
  readonly peakMb: number
}

function measured(args: readonly string[]): Measured {
  const file = join(place.folder, 'peak')
  const around = { through: ['python3', PEAK, file], seconds: SECONDS }
  const ended = place.writ(args, around)
  return { ...ended, peakMb: Number(readFileSync(file, 'utf8')) / 1024 }
}

function make(directory: string, count: number): Measured {
  const names = `seq -f 'd%.0f' 1 ${count / 100} | xargs mkdir -p; for d in d*; do (cd $d; seq -f 'file-%.0f.js' 1 99 | xargs touch); done`
  const script = `mkdir ${directory}; cd ${directory}; ${names}`
  return measured(['exec', '--write', '**', '-q', '--', 'sh', '-c', script])
}

function expectSmall(few: Measured, many: Measured): void {
  const bytes = ((many.peakMb - few.peakMb) * 1024 ** 2) / (MANY - FEW)
  const sizes = `${few.peakMb} and ${many.peakMb} MB`
  expect(bytes, sizes).toBeLessThan(ENTRY_BYTES_MAX)
  expect(many.peakMb, sizes).toBeLessThan(PEAK_MB_MAX)
}

it('grows little with each entry, for an act and for taking it back', () => {
  const few = make('few', FEW)
  expect(few.status, few.err).toBe(0)
  const many = make('many', MANY)
  expect(many.status, many.err).toBe(0)
  expect(place.has(`many/d${MANY / 100}/file-99.js`)).toBe(true)
  const manyUndone = measured(['undo'])
  expect(manyUndone.status, manyUndone.err).toBe(0)
  expect(place.has('many')).toBe(false)
  const fewUndone = measured(['undo'])
  expect(fewUndone.status, fewUndone.err).toBe(0)
  expect(place.has('few')).toBe(false)
  expectSmall(few, many)
  expectSmall(fewUndone, manyUndone)
})
