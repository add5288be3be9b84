/** Base64 by its form. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isBase64 } from './shapes.ts'

describe('base64', () => {
  it('is what an encoder writes', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        expect(isBase64(Buffer.from(bytes).toString('base64'))).toBe(true)
      }),
    )
  })

  it.each(['a', 'aa', 'aaa', 'aaa-', 'aa=a', '====', 'a===', 'aa a', 'aaaé'])(
    'is not %j',
    (text) => {
      expect(isBase64(text)).toBe(false)
    },
  )
})
