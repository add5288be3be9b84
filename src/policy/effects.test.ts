/** Questions about effects: every answer has its witness, and asking costs one pass. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { matchesPath } from '../contracts/index.ts'
import { EFFECT_FUNCTIONS, effectCalls, type LawChange, placeGlob } from './effects.ts'

const PLACES = { home: '/home/ann', workspace: '/home/ann/shop' }

const names = fc.constantFrom('a', 'b', '.git', 'x.ts', 'home', 'ann', 'shop')
const path = fc.array(names, { minLength: 1, maxLength: 5 }).map((parts) => `/${parts.join('/')}`)
const change: fc.Arbitrary<LawChange> = fc.record({
  path,
  lists: fc.constantFrom<LawChange['lists']>(
    ['added'],
    ['modified'],
    ['deleted'],
    ['deleted', 'added'],
  ),
  discarded: fc.boolean(),
})
const glob = fc
  .array(fc.oneof(names, fc.constantFrom('*', '**', '*.ts')), { minLength: 1, maxLength: 4 })
  .chain((parts) => fc.constantFrom('~/', '/', '', '**/').map((head) => head + parts.join('/')))

describe('questions about effects', () => {
  it('are answered as matching every change one by one would', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 12 }), glob, (changes, text) => {
        const placed = placeGlob(text, PLACES)
        fc.pre(placed !== null)
        const calls = effectCalls(changes, PLACES)
        const hits = (wanted: (one: LawChange) => boolean): boolean =>
          changes.some((one) => wanted(one) && matchesPath(placed, one.path))
        const kept = (list: LawChange['lists'][number]) => (one: LawChange) =>
          !one.discarded && one.lists.includes(list)
        expect(calls['touches']?.(text)?.value).toBe(hits(({ discarded }) => !discarded))
        expect(calls['discards']?.(text)?.value).toBe(hits(({ discarded }) => discarded))
        expect(calls['creates']?.(text)?.value).toBe(hits(kept('added')))
        expect(calls['modifies']?.(text)?.value).toBe(hits(kept('modified')))
        expect(calls['deletes']?.(text)?.value).toBe(hits(kept('deleted')))
      }),
    )
  })

  it('are answered with the path that matched', () => {
    const changes: LawChange[] = [
      { path: '/home/ann/shop/a', lists: ['added'], discarded: false },
      { path: '/home/ann/shop/b', lists: ['added'], discarded: false },
    ]
    const answer = effectCalls(changes, PLACES)['creates']?.('b')
    expect(answer).toEqual({ value: true, witness: '/home/ann/shop/b' })
  })

  it('cost one pass each, and nothing when asked again', () => {
    const changes = Array.from(
      { length: 100_000 },
      (_, index): LawChange => ({
        path: `/home/ann/shop/node_modules/p${index % 500}/lib/f${index}.js`,
        lists: ['added'],
        discarded: false,
      }),
    )
    let reads = 0
    const counted = changes.map((change) => ({
      ...change,
      get path() {
        reads++
        return change.path
      },
    }))
    const calls = effectCalls(counted, PLACES)
    const ask = (): number => {
      const before = reads
      for (const name of EFFECT_FUNCTIONS) calls[name]?.('**/*a*b*c*/**/*.zz')
      calls['touches']?.('**/.git/**')
      calls['touches']?.('~/.ssh/**')
      return reads - before
    }
    const passes = EFFECT_FUNCTIONS.length + 2
    expect(ask()).toBeLessThanOrEqual(2 * passes * changes.length)
    expect(ask()).toBe(0)
  })

  it.each(['', '~', '../x', '/a//b', 'a/../b', '**x/b', '/a/./b'])('refuse the glob %j', (text) => {
    expect(placeGlob(text, PLACES)).toBe(null)
  })
})
