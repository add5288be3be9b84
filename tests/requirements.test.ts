/** Cited requirements have a text and tests, and the page of tests names only tests that exist. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { citationFaults, citedIds, definedIds, type SpecificationPages } from './house/citations.ts'

const FOLDERS = ['src', 'tests', 'docs', 'tools', 'bench', 'examples', 'bin', 'spec']
/** JSON and YAML hold ids of their own. */
const CITING = /\.(?:ts|mts|mjs|cjs|md|py|c|sh)$/

const PAGES: SpecificationPages = {
  requirements: readFileSync('spec/requirements.md', 'utf8'),
  seeds: readFileSync('spec/seeds.md', 'utf8'),
  tests: readFileSync('docs/requirements.md', 'utf8'),
}

function citingFiles(): ReadonlyMap<string, string> {
  const inFolders = FOLDERS.flatMap((folder) =>
    readdirSync(folder, { recursive: true }).map((name) => `${folder}/${String(name)}`),
  )
  const paths = [...inFolders, ...readdirSync('.')].filter(
    (path) => CITING.test(path) && path !== 'spec/requirements.md',
  )
  return new Map(paths.map((path) => [path, readFileSync(path, 'utf8')]))
}

describe('citations', () => {
  it('lead to a text, and every text has tests', () => {
    const files = citingFiles()
    expect(files.size).toBeGreaterThan(500)
    expect(citationFaults(files, PAGES)).toEqual([])
  })

  it('include ranges and references over two lines', () => {
    const defined = definedIds(PAGES.requirements).keys()
    const between = citedIds('(G-19b to G-19d, I1-I3)', [...defined])
    expect([...between].sort()).toEqual(['G-19b', 'G-19c', 'G-19d', 'I1', 'I2', 'I3'])
  })
})

describe('a seeded fault is found:', () => {
  const pages: SpecificationPages = {
    requirements:
      '### G-19\nText.\n- <a id="g-19a"></a>**G-19a** Text.\n\n### G-20\n*Not yet built.*\n',
    seeds: '## seed 003\n### seed 003 §8\n- words → [G-19](requirements.md#g-19)\n',
    tests: '### G-19 words\n',
  }
  const cites = 'G-19, G-19a'
  const faults = (text: string, changed: Partial<SpecificationPages> = {}): string =>
    citationFaults(new Map([['a.ts', text]]), { ...pages, ...changed }).join('\n')

  it('none without one', () => {
    expect(faults(`${cites}, seed 003 §8`)).toBe('')
  })

  it.each([
    ['an unknown id', `${cites} ${['G', '99'].join('-')}`, {}, 'has no text'],
    ['an unknown clause', `${cites} ${['G', '19z'].join('-')}`, {}, 'has no text'],
    ['a missing heading', cites, { requirements: pages.requirements.slice(9) }, 'G-19 has no text'],
    ['an unknown section', `${cites} ${'seed'} 003 §9`, {}, 'seed 003 §9 has no heading'],
    ['a section over two lines', `${cites} ${'seed'}\n * 003 §9`, {}, 'seed 003 §9 has no heading'],
    ['a loose reference', `${cites} ${'seed'} 003, 8`, {}, 'as seed NNN §M'],
    ['an id that is never cited', 'G-19', {}, 'G-19a is cited nowhere'],
    ['a requirement without tests', cites, { tests: '' }, 'G-19 has no tests'],
    ['a stale mark', cites, { tests: '### G-19, G-20' }, 'G-20 has tests and is marked'],
    [
      'a statement without a requirement',
      cites,
      { seeds: '- words' },
      'no requirement and no reason',
    ],
  ])('%s', (_, text, changed, words) => {
    expect(faults(text, changed)).toContain(words)
  })

  it('an id that is defined twice', () => {
    expect(() => definedIds(`${pages.requirements}### G-19\n`)).toThrow('G-19 is defined twice')
  })
})

describe('the page of tests', () => {
  it('names tests that exist, at least one for each', () => {
    const missing: string[] = []
    for (const section of PAGES.tests.split(/^### /m).slice(1)) {
      const rows = [...section.matchAll(/^- `([^`]+)`: (.+)$/gm)]
      if (rows.length === 0) missing.push(section)
      for (const [row, file = '', title = ''] of rows) {
        if (!existsSync(file) || !titlesIn(file).includes(title)) missing.push(row)
      }
    }
    expect(missing).toEqual([])
  })

  it('names each requirement once', () => {
    const ids = definedIds(PAGES.requirements).keys()
    const headings = [...PAGES.tests.matchAll(/^### (.+)$/gm)].map(([, heading = '']) => heading)
    const named = headings.flatMap((heading) => [...citedIds(heading, [...ids])])
    expect(named.filter((id, index) => named.indexOf(id) !== index)).toEqual([])
  })
})

/** Returns everything in quotation marks behind `it`, `describe` or a table of cases. */
function titlesIn(file: string): string {
  const text = readFileSync(file, 'utf8')
  return [...text.matchAll(/[(]\s*(['`])((?:(?!\1).)+)\1/g)].map(([, , title]) => title).join('\n')
}

/** Returns the terms that open an entry: `**rollback**, **undo**: …`. */
function entriesOf(glossary: string): ReadonlySet<string> {
  const openings = [...glossary.matchAll(/^(\*\*[^:\n]+):/gm)].map(([, opening = '']) => opening)
  return new Set(
    openings.flatMap((opening) => opening.split(', ').map((term) => term.slice(2, -2))),
  )
}

describe('the glossary', () => {
  const page = readFileSync('docs/glossary.md', 'utf8')
  const entries = entriesOf(page)

  it('explains every word of ARCHITECTURE.md, section 6', () => {
    const [, list = ''] =
      /^\*\*Words\.\*\* ([^.]+)\./m.exec(readFileSync('ARCHITECTURE.md', 'utf8')) ?? []
    const words = list.split(', ')
    expect(words.length).toBeGreaterThan(20)
    expect(words.filter((word) => !entries.has(word))).toEqual([])
  })

  it('explains every word that it sets in italics', () => {
    const prose = page.slice(page.indexOf('## ')).replaceAll('**', '')
    const words = [...prose.matchAll(/\*([^*\n]+)\*/g)].map(([, word = '']) => word.toLowerCase())
    expect(words.length).toBeGreaterThan(50)
    const isExplained = (word: string): boolean =>
      entries.has(word) ||
      entries.has(word.replace(/s$/, '')) ||
      entries.has(word.replace(/ies$/, 'y'))
    expect(words.filter((word) => !isExplained(word))).toEqual([])
  })
})
