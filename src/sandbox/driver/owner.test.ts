/** Left behind is what a process made that is certainly gone, here. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readlinkSync } from 'node:fs'
import { expect, it } from 'vitest'
import { isLeftBehind, ownerMark } from './owner.ts'

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
