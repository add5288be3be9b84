/** Files that are held open tell what is so now, and nothing when they are not there. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { KeptFiles } from './kept-files.ts'

const folder = mkdtempSync(join(tmpdir(), 'writ-kept-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('tell what is in them at the moment they are asked', () => {
  const files = new KeptFiles()
  const file = join(folder, 'usage')
  writeFileSync(file, '17\n')
  expect(files.text(file)).toBe('17')
  writeFileSync(file, '2\n')
  expect(files.text(file)).toBe('2')
  files.close()
})

it('are empty when they are not there', () => {
  const files = new KeptFiles()
  expect(files.text(join(folder, 'nowhere'))).toBe('')
  files.close()
  files.close()
})
