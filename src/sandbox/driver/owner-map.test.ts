/** Root's sandbox knows the users that root knows, in a container too. */
import { expect, it } from 'vitest'
import { sameNumbers } from './owner-map.ts'

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
