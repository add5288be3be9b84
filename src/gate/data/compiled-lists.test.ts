/** Patterns that were read are kept for the same list and the same homes, and for no others. */
import { expect, it } from 'vitest'
import { compiledLists } from './compiled-lists.ts'
import { DEFAULT_LISTS, withEphemeral } from './lists.ts'

const more = withEphemeral(DEFAULT_LISTS, ['**/thrown-away/**'])
const finds = (lists: typeof more, homes: readonly string[], path: string): boolean =>
  compiledLists(lists, homes).ephemeral.find(path) !== null

it('is read once', () => {
  const first = compiledLists(DEFAULT_LISTS, ['/home/ann'])
  expect(compiledLists(DEFAULT_LISTS, ['/home/ann'])).toBe(first)
})

it('another list is another one', () => {
  expect(finds(DEFAULT_LISTS, ['/home/ann'], '/w/thrown-away/x')).toBe(false)
  expect(finds(more, ['/home/ann'], '/w/thrown-away/x')).toBe(true)
})

it('other homes are others', () => {
  expect(finds(DEFAULT_LISTS, ['/home/ann'], '/home/ann/.cache/x')).toBe(true)
  expect(finds(DEFAULT_LISTS, ['/home/bob'], '/home/ann/.cache/x')).toBe(false)
  expect(finds(DEFAULT_LISTS, ['/home/bob'], '/home/bob/.cache/x')).toBe(true)
})
