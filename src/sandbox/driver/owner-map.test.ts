/** Root's sandbox knows the users that root knows, in a container too. */
import { expect, it } from 'vitest'
import { sameNumbers, spareOwner } from './owner-map.ts'

it.each([
  ['all of them', '         0          0 4294967295\n', '0 0 4294967295\n'],
  [
    'those of a container',
    '         0       1000          1\n         1     100000      65536\n',
    '0 0 1\n1 1 65536\n',
  ],
])('%s', (_, map, want) => {
  expect(sameNumbers(map)).toBe(want)
})

it.each([
  ['of all', '0 0 4294967295\n', 4294967294, '0 0 4294967294\n'],
  ['of a container', '0 1000 1\n1 100000 65536\n', 65536, '0 0 1\n1 1 65535\n'],
  ['that is a range', '0 1000 1\n5 100000 1\n', 5, '0 0 1\n'],
  ['of ranges in any order', '100 5000 10\n0 1000 1\n', 109, '100 100 9\n0 0 1\n'],
])('the highest number %s is spare and can be withheld', (_, map, spare, want) => {
  expect(spareOwner(map)).toBe(spare)
  expect(sameNumbers(map, spare)).toBe(want)
})

it('no number is spare where root is alone', () => {
  expect(spareOwner('0 1000 1\n')).toBe(null)
})
