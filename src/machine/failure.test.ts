/** The messages to people when the system refuses to keep changes: a full disk, and the real path. */

import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { FaultError } from '../base/index.ts'
import { machineFailure } from '../promotion/entries/failure.ts'
import { asFailure, toolFailure } from './failure.ts'

let folder = ''
let handle = -1
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'writ-failure-'))
  handle = openSync(folder, 'r')
})
afterAll(() => {
  closeSync(handle)
  rmSync(folder, { recursive: true })
})

/** An error of the system for a file that is used through its open directory. */
function refused(code: string): Error {
  try {
    writeFileSync(`/proc/self/fd/${handle}/absent/file`, '')
  } catch (error) {
    return Object.assign(error as Error, { code })
  }
  throw new Error('the file was written')
}

it('a tool that finds the disk full says so, where, and what to do', () => {
  const stderr = 'tar: x: Cannot write: No space left on device\ntar: exiting\n'
  const { fault } = toolFailure('tar', `/proc/self/fd/${handle}`, stderr)
  expect(fault.code).toBe('stage.tool')
  expect(fault.message).toContain('no space is left on the disk (ENOSPC)')
  expect(fault.message).toContain(`\`${folder}\``)
  expect(fault.hint).toContain('writ gc')
  expect(toolFailure('cp', folder, 'cp: odd\n').fault.message).toContain('cp: odd')
})

it('an error of the system names the file, not the open directory', () => {
  const staged = asFailure(refused('ENOSPC'), 'stage.tool', folder)
  expect(staged).toBeInstanceOf(FaultError)
  if (!(staged instanceof FaultError)) return
  expect(staged.fault.message).toContain(`\`${folder}/absent/file\``)
  expect(staged.fault.hint).toContain('writ gc')
})

it('a promotion that failed names the file, the workspace and the next step', () => {
  const failed = machineFailure(refused('EPERM'), '/srv/space')
  expect(failed).toBeInstanceOf(FaultError)
  if (!(failed instanceof FaultError)) return
  expect(failed.fault).toMatchObject({ code: 'promote.failed', at: `${folder}/absent/file` })
  expect(failed.fault.message).toContain('the system does not permit it (EPERM)')
  expect(failed.fault.message).toContain('in `/srv/space`; nothing was changed')
  expect(failed.fault.hint).toContain('run it again')
})
