/** Real paths are reached without following a symbolic link, at any place on the way. */
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type RawPath, rawOfText } from '../../gate/index.ts'
import { lookAt } from './entry.ts'
import { Ground } from './ground.ts'

let base: string
let ground: Ground
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'writ-ground-'))
  mkdirSync(join(base, 'real/deep'), { recursive: true })
  writeFileSync(join(base, 'real/deep/file'), 'x')
  symlinkSync('real', join(base, 'link'))
  ground = new Ground()
})
afterEach(() => {
  ground.close()
  rmSync(base, { recursive: true })
})

const path = (name: string): RawPath => rawOfText(join(base, name))

describe('ground', () => {
  it('reaches a file', () => {
    expect(lookAt(ground.at(path('real/deep/file')))?.kind).toBe('file')
    expect(lookAt(ground.at(path('real/deep/none')))).toBe(null)
  })

  it.each(['link/file', 'link/deep/file', 'real/deep/file/x'])('does not follow %s', (name) => {
    expect(() => ground.at(path(name))).toThrow(/ENOTDIR|ELOOP/)
    expect(ground.atIfThere(path(name))).toBe(null)
  })

  it('says which directories were moved or replaced', () => {
    ground.at(path('real/deep/file'))
    expect(ground.moved([path('real/deep')])).toEqual([])
    renameSync(join(base, 'real'), join(base, 'moved'))
    mkdirSync(join(base, 'real/deep'), { recursive: true })
    expect(ground.moved([path('real/deep')])).toEqual([path('real/deep')])
  })

  it('keeps few directories open, however many are used', () => {
    for (let index = 0; index < 500; index++) {
      mkdirSync(join(base, `real/${index}`))
      expect(lookAt(ground.at(path(`real/${index}/x`)))).toBe(null)
    }
    expect(lookAt(ground.at(path('real/deep/file')))?.kind).toBe('file')
  })
})
