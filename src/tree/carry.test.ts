/** What `tar` says, told apart: others at work on a directory, or something that went wrong. */
import { describe, expect, it } from 'vitest'
import { isChangeAlone } from './carry.ts'

describe('a complaint about a change alone', () => {
  it.each([
    ['tar: ./tmp: file changed as we read it\nfailed\n', true],
    ['tar: ./tmp: file changed as we read it\ntar: ./a: file changed as we read it\nfailed', true],
    ['failed\n', false],
    ['', false],
    ['tar: ./a: Cannot open: Permission denied\nfailed\n', false],
    ['tar: ./a: file changed as we read it\ntar: ./b: Cannot stat: No such file\nfailed', false],
  ])('%j: %s', (stderr, isAlone) => {
    expect(isChangeAlone(stderr)).toBe(isAlone)
  })
})
