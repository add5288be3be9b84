/** Finds writers of a file, for any user and any way of holding it open; ignores readers. */
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { rawOfText } from '../../gate/index.ts'
import { type AskedFile, findWriters } from './busy.ts'

let base: string
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'writ-busy-'))
})
afterEach(() => rmSync(base, { recursive: true }))

function ask(name: string): AskedFile {
  const path = join(base, name)
  writeFileSync(path, 'x')
  return { path: rawOfText(path), address: Buffer.from(path) }
}

describe('findWriters', () => {
  it('finds no process where no process is, or only a reader', async () => {
    const asked = [ask('a'), ask('new\nline')]
    const handle = openSync(join(base, 'a'), 'r')
    try {
      expect((await findWriters(asked)).files).toEqual([])
      expect((await findWriters([])).files).toEqual([])
    } finally {
      closeSync(handle)
    }
  })

  it('finds who writes, among many', async () => {
    const asked = Array.from({ length: 500 }, (_, index) => ask(`file-${index}`))
    const handle = openSync(join(base, 'file-417'), 'a')
    try {
      const { files, processes } = await findWriters(asked)
      expect(files).toEqual([asked[417]])
      expect(processes).toEqual([process.pid])
    } finally {
      closeSync(handle)
    }
  })

  it('finds no process at what is not there', async () => {
    const gone = ask('gone')
    rmSync(join(base, 'gone'))
    expect((await findWriters([gone])).files).toEqual([])
  })
})
