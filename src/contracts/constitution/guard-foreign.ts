/**
 * What to say about signs that other languages have and this one refuses: comparison, arithmetic,
 * inference, text matching. A few have a legal way to say what was probably meant.
 */
import { showName } from '../../base/index.ts'

interface ForeignAdvice {
  readonly message: string
  readonly hint: string | null
}

const COMPARISON = /^[<>]=?$/
const INSTEAD: ReadonlyMap<string, string> = new Map([
  ['=', 'write `EQ(path, "value")`'],
  ['==', 'write `EQ(path, "value")`'],
  ['===', 'write `EQ(path, "value")`'],
  ['!=', 'write `NOT EQ(path, "value")`'],
  ['!==', 'write `NOT EQ(path, "value")`'],
  ['<>', 'write `NOT EQ(path, "value")`'],
  ['&', 'write `AND`'],
  ['&&', 'write `AND`'],
  ['|', 'write `OR`'],
  ['||', 'write `OR`'],
  ['!', 'write `NOT`'],
  ["'", 'write strings in double quotes'],
])

export function sayForeign(sign: string): ForeignAdvice {
  const message = COMPARISON.test(sign)
    ? `${showName(sign)} is not part of the guard language: nothing is compared by size`
    : `${showName(sign)} is not part of the guard language`
  return { message, hint: INSTEAD.get(sign) ?? null }
}
