/** Declared effects: what they declare, per kind. */
import { describe, expect, it } from 'vitest'
import { declaresEffect, declaresGlob, readEffects } from './effects.ts'
import { type Glob, parseGlob } from './glob.ts'

const effects = readEffects({
  filesystem: {
    create: ['/d/out/**'],
    modify: ['/d/a.txt', '/d/*.json'],
    delete: ['/d/tmp/*.log', '/d/tmp/*.log', 7, 'relative', '/d/a**'],
  },
})

const glob = (text: string): Glob => parseGlob(text) as Glob

describe('declared effects', () => {
  it.each([
    ['create', '/d/out', true],
    ['create', '/d/out/a/b', true],
    ['create', '/d/a.txt', false],
    ['modify', '/d/a.txt', true],
    ['modify', '/d/.json', true],
    ['modify', '/d/out/a', false],
    ['delete', '/d/tmp/x.log', true],
    ['delete', '/d/tmp', false],
    ['delete', '/d/tmp/x/y.log', false],
    ['delete', 'relative', false],
  ] as const)('%s %s: %s', (kind, path, want) => {
    expect(declaresEffect(effects, kind, path)).toBe(want)
  })

  it.each([
    ['create', '/d/out/*/x', true],
    ['create', '/d/**', false],
    ['modify', '/d/*.json', true],
    ['modify', '/d/a*.json', true],
    ['modify', '/d/*', false],
    ['delete', '/d/tmp/a*.log', true],
  ] as const)('the glob %s %s: %s', (kind, text, want) => {
    expect(declaresGlob(effects, kind, glob(text))).toBe(want)
  })

  it('declare nothing when they cannot be read', () => {
    for (const broken of [
      undefined,
      null,
      [],
      { filesystem: 7 },
      { filesystem: { create: '/d' } },
    ]) {
      expect(declaresEffect(readEffects(broken), 'create', '/d')).toBe(false)
    }
  })
})
