/** Left behind is what a process made that is certainly gone, here. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readlinkSync } from 'node:fs'
import { expect, it } from 'vitest'
import { isLeftBehind, ownerMark, sameNumbers, spareOwner, startedAt } from './owner.ts'

const NAMESPACE = /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? ''

it('what a process made is left behind when the process is gone', async () => {
  const child = spawn('sleep', ['60'])
  const mark = `${child.pid}.${NAMESPACE}`
  expect([isLeftBehind(`${mark}-0a1b`), isLeftBehind(`${ownerMark()}-0a1b`)]).toEqual([
    false,
    false,
  ])
  child.kill('SIGKILL')
  await once(child, 'exit')
  expect(isLeftBehind(`${mark}-0a1b`)).toBe(true)
  expect(isLeftBehind(`writ-${mark}-0a1b`, 'writ-')).toBe(true)
})

it('a process that took the number of another one later made nothing of it', () => {
  const name = `owner-${ownerMark()}-`
  const started = startedAt(process.pid)
  expect(isLeftBehind(name, 'owner-', started)).toBe(false)
  expect(isLeftBehind(name, 'owner-', `${Number(started) - 1}`)).toBe(true)
})

it('what a process of another namespace made is not ours to judge', () => {
  const { pid } = spawnSync('true')
  expect(isLeftBehind(`${pid}.${NAMESPACE}-x`)).toBe(true)
  expect(isLeftBehind(`${pid}.1${NAMESPACE}-x`)).toBe(false)
})

it.each(['fifos', '', '12-x', '.-x', `.${NAMESPACE}-x`])(
  '%j belongs to no known process',
  (name) => {
    expect(isLeftBehind(name)).toBe(false)
  },
)

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
