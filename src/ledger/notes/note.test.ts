/** Notes and checkpoints as texts; the curves are tested with the foreign vectors. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeBase64, decodeHex, encodeBase64, encodeHex } from '../tree/base64.ts'
import { leafHash } from '../tree/tree.ts'
import { compareCheckpoints, forkFault, formatCheckpoint, parseCheckpoint } from './checkpoint.ts'
import { formatNote, isKeyName, openNote, parseNote, parseVerifierKey } from './note.ts'

const bytes = fc.uint8Array({ minLength: 0, maxLength: 100 })
const signature = fc.record({
  name: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).filter(isKeyName),
  keyId: fc.integer({ min: 0, max: 0xffff_ffff }),
  bytes: fc.uint8Array({ minLength: 1, maxLength: 80 }),
})
const text = fc
  .array(fc.string({ unit: 'grapheme-ascii', maxLength: 20 }), { minLength: 1, maxLength: 6 })
  .map((lines) => `${lines.join('\n')}\n`)

describe('base 64 and hex', () => {
  it('agree with the platform and read back', () => {
    fc.assert(
      fc.property(bytes, (value) => {
        expect(encodeBase64(value)).toBe(Buffer.from(value).toString('base64'))
        expect(encodeHex(value)).toBe(Buffer.from(value).toString('hex'))
        expect(decodeBase64(encodeBase64(value))).toEqual(value)
        expect(decodeHex(encodeHex(value))).toEqual(value)
      }),
    )
  })

  it.each(['A', 'AA', 'AAA', 'AA=A', 'AAAA=', 'AB==', 'AAB=', 'AA A', 'AAA\n', 'A-_=', '===='])(
    'refuse %j, which is no spelling or a second one',
    (spelling) => expect(decodeBase64(spelling)).toBe(null),
  )
})

describe('notes', () => {
  it('read back as written', () => {
    fc.assert(
      fc.property(text, fc.array(signature, { minLength: 1, maxLength: 5 }), (body, signatures) => {
        expect(parseNote(formatNote({ text: body, signatures }))).toEqual({
          text: body,
          signatures,
        })
      }),
    )
  })

  it('are answered no matter what they hold', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (junk) => {
        const opened = openNote(junk, [])
        expect(opened.ok).toBe(false)
        parseVerifierKey(junk)
        parseCheckpoint(junk)
      }),
    )
  })

  it('part at the last blank line', () => {
    const signatures = [{ name: 'a', keyId: 1, bytes: Uint8Array.of(1) }]
    const note = formatNote({ text: 'one\n\ntwo\n', signatures })
    expect(parseNote(note)?.text).toBe('one\n\ntwo\n')
  })
})

describe('checkpoints', () => {
  const root = leafHash('a')
  const other = leafHash('b')
  const ours = { origin: 'o', size: 3, root, extensions: [] }

  it('read back as written', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (size) => {
        expect(parseCheckpoint(formatCheckpoint({ ...ours, size }))).toEqual({ ...ours, size })
      }),
    )
  })

  it('of one size with different roots are a fork', () => {
    expect(compareCheckpoints(ours, ours)).toBe('same')
    expect(compareCheckpoints(ours, { ...ours, size: 4, root: other })).toBe('older')
    expect(compareCheckpoints(ours, { ...ours, size: 2, root: other })).toBe('newer')
    expect(compareCheckpoints(ours, { ...ours, origin: 'p', root: other })).toBe('strangers')
    const theirs = { ...ours, root: other }
    expect(compareCheckpoints(ours, theirs)).toBe('fork')
    expect(forkFault(ours, theirs)).toMatchObject({
      code: 'ledger.forked',
      details: { size: 3, ours: encodeHex(root), theirs: encodeHex(other) },
    })
  })
})
