/** The words of the console: every language is whole, and the first page is small. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { en } from '../../src/console/words/en.ts'
import { fill } from '../../src/console/words/fill.ts'
import { zh } from '../../src/console/words/zh.ts'
import { ensureBuilt } from '../built.ts'

/** Names that are the same in every language. */
const NAMES =
  /\bwrit\b|\bnpm\b|`[^`]*`|AGENT|FILE|NAME|JSON|exec|touch|hello|principal|add|ai|local|serve|run/g

function placeholders(text: string): readonly string[] {
  return [...text.matchAll(/\{(\w+)/g)].map(([, name]) => name ?? '').sort()
}

describe('the catalogues (W-4)', () => {
  it('have the same keys', () => {
    expect(Object.keys(zh).sort()).toEqual(Object.keys(en).sort())
  })

  it('have no English left in Chinese', () => {
    const english = Object.entries(zh).filter(([, text]) => {
      const words = text
        .replace(/\{\w+, (?:number|plural,)|\b(?:other|one) \{|\{\w+\}/g, '')
        .replace(NAMES, '')
      return /[A-Za-z]{2,}/.test(words)
    })
    expect(english.filter(([key]) => key !== 'question.wants')).toEqual([])
  })

  it('use the same values, but for plurals of one language', () => {
    for (const [key, text] of Object.entries(en)) {
      const other = zh[key as keyof typeof zh] // A key of the same catalogue.
      expect(
        [...new Set(placeholders(other))].filter((name) => !placeholders(text).includes(name)),
        key,
      ).toEqual([])
    }
  })
})

describe('values in messages', () => {
  it('are put into every message of every language', () => {
    for (const [tag, catalogue] of [
      ['en-US', en],
      ['zh-CN', zh],
    ] as const)
      for (const [key, text] of Object.entries(catalogue))
        for (const count of [0, 1, 2]) {
          const values = Object.fromEntries(placeholders(text).map((name) => [name, count]))
          expect(fill(text, values, tag), key).not.toMatch(/[{}#]/)
        }
  })

  it('follow the plural and the numbers of the language', () => {
    const words = (count: number) => fill(en['question.hosts'], { count }, 'en-US')
    expect([0, 1, 2, 12_345].map(words)).toEqual([
      'no host contacted',
      '1 host contacted',
      '2 hosts contacted',
      '12,345 hosts contacted',
    ])
    expect(fill('{who} is {who}', { who: '{count, number} $& #' }, 'en-US')).toBe(
      '{count, number} $& # is {count, number} $& #',
    )
  })
})

describe('the files of the console (W-1)', () => {
  it('have a first page of at most 260 kB, packed', () => {
    ensureBuilt()
    const folder = join('dist', 'console')
    const page = readFileSync(join(folder, 'index.html'), 'utf8')
    const named = [...page.matchAll(/(?:src|href)="\/?(?:\.\/)?([^"]+\.(?:js|css))"/g)].map(
      ([, name]) => name ?? '',
    )
    expect(named.length).toBeGreaterThan(1)
    const sizes = named.map(
      (name) => gzipSync(readFileSync(join(folder, name)), { level: 9 }).length,
    )
    const sum = sizes.reduce((left, right) => left + right, 0)
    expect(sum).toBeLessThanOrEqual(260_000)
    expect(sum).toBeGreaterThan(60_000)
  })

  it('hold no inline script or style, and name no other site', () => {
    const page = readFileSync(join('dist', 'console', 'index.html'), 'utf8')
    expect(page).not.toMatch(/<script(?![^>]*src=)|<style|\son\w+=|https?:/)
    const scripts = readdirSync(join('dist', 'console', 'assets')).filter((name) =>
      name.endsWith('.js'),
    )
    for (const name of scripts) {
      const text = readFileSync(join('dist', 'console', 'assets', name), 'utf8')
      expect(text, name).not.toMatch(/\bimport\(["']https?:/)
    }
  })
})
