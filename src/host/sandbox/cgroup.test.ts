/** Control groups that are still in use when they are to be removed. */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { findGroupPlaces, removeGroup } from './cgroup.ts'

it('a group goes when its last process does, even if that takes a while', async () => {
  // Without groups for this user, a directory that nobody uses.
  const place = findGroupPlaces().processes
  const directory = join(place ?? tmpdir(), `writ-test-${process.pid}`)
  mkdirSync(directory)
  const child = spawn('sleep', ['0.6'], { stdio: 'ignore' })
  if (place !== null) writeFileSync(join(directory, 'cgroup.procs'), String(child.pid))
  await removeGroup(directory)
  expect(existsSync(directory)).toBe(false)
})
