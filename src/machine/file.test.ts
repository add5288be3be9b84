/** Small files are seen whole or not at all, and an interrupted writing leaves nothing for ever. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { writeWhole } from './file.ts'

const folder = mkdtempSync(join(tmpdir(), 'writ-file-test-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('takes away what an interrupted writing of its owner left', () => {
  const file = join(folder, 'log.md')
  writeFileSync(`${file}.run-1.tmp`, 'half')
  writeWhole(file, 'whole', 0o644, 'run-1')
  expect(readFileSync(file, 'utf8')).toBe('whole')
  expect(readdirSync(folder)).toEqual(['log.md'])
})
