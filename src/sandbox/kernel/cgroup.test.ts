/** Removing control groups that are still in use. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { findGroupPlaces, removeGroup, sweepGroup } from './cgroup.ts'

it('a group goes when its last process does, even if that takes a while', async () => {
  // If this user has no control groups, the test removes a plain directory.
  const place = findGroupPlaces().processes
  const directory = join(place ?? tmpdir(), `writ-test-${process.pid}`)
  mkdirSync(directory)
  const child = spawn('sleep', ['0.6'], { stdio: 'ignore' })
  if (place !== null) writeFileSync(join(directory, 'cgroup.procs'), String(child.pid))
  await removeGroup(directory)
  expect(existsSync(directory)).toBe(false)
})

it('a process that waits in a group whose owner is gone is ended, and the group goes', async () => {
  const place = findGroupPlaces().processes
  const directory = join(place ?? tmpdir(), `writ-swept-${process.pid}`)
  mkdirSync(directory)
  if (place !== null) {
    const child = spawn('sleep', ['600'], { stdio: 'ignore' })
    const ended = once(child, 'exit')
    writeFileSync(join(directory, 'cgroup.procs'), String(child.pid))
    sweepGroup(directory)
    expect((await ended)[1]).toBe('SIGKILL')
  }
  sweepGroup(directory)
  expect(existsSync(directory)).toBe(false)
})
