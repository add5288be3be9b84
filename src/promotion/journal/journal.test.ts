/** Open exchanges are listed by processes that do not hold the lock, while others end. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openJournals } from './journal.ts'

const ENDED = '18d20f91-f0c7-4018-8551-c2789cf9df55'
const OPEN = '28d20f91-f0c7-4018-8551-c2789cf9df55'

let state: string

beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), 'writ-journal-'))
  mkdirSync(join(state, 'journal'))
})

afterEach(() => rmSync(state, { recursive: true, force: true }))

it('leaves out an exchange that ended between being listed and being read', () => {
  // Listed, and not there when it is opened.
  symlinkSync('gone', join(state, 'journal', `${ENDED}.journal`))
  writeFileSync(join(state, 'journal', `${OPEN}.journal`), '{"mark":"applied"}\n\n')
  expect(openJournals(state)).toEqual([{ id: OPEN, intent: null, marks: ['applied'] }])
})
