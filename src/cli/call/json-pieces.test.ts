/** Pieces of JSON make the text that JSON.stringify gives. */
import { expect, it } from 'vitest'
import { jsonPieces } from './json-pieces.ts'

it.each([
  ['an empty object', {}],
  ['an empty list', { list: [], inner: {} }],
  ['what JSON leaves out', { a: undefined, b: () => 1, c: [undefined, null], d: { e: undefined } }],
  ['texts', { 'a "b"': 'c\n\u2028\ud800', d: '😀' }],
  ['numbers', { a: 1.5, b: Number.NaN, c: [1, 2], d: false, e: null }],
  ['values that say how they are written', { at: new Date(0), whole: { toJSON: () => [1] } }],
  ['a list', [1, 'two', { three: [3] }]],
  ['a text', 'text'],
])('of %s', (_, value) => {
  expect([...jsonPieces(value)].join('')).toBe(JSON.stringify(value))
})

it('a long list is given in many pieces', () => {
  const list = Array.from({ length: 10_000 }, (_, index) => ({ path: `/w/file-${index}`, index }))
  const answer = { result: { diff: { toJSON: () => ({ added: list }) } } }
  const pieces = [...jsonPieces(answer)]
  expect(pieces.join('')).toBe(JSON.stringify(answer))
  expect(pieces.length).toBeGreaterThan(3)
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(70_000)
})
