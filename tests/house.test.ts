/** The house: who may see whom, what is pure, and that every one of these guards can go red. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { folderCircles, fullFolders, unusedExports } from './house/graph.ts'
import { type House, inspect } from './house/inspect.ts'
import { gerunds, homonyms } from './house/names.ts'
import { bareCasts, hardComments, hardTexts, hardTitles, hardWords } from './house/prose.ts'
import { CIRCLES, FULL, isOpen, OVERSIZED, PURE_BY_EXCEPTION, ROOMS } from './house/rooms.ts'
import { seconds } from './house/single.ts'
import { looseSwitches } from './house/switches.ts'

const HOUSE: House = { rooms: ROOMS, exceptions: PURE_BY_EXCEPTION, oversized: OVERSIZED }

function sources(folder: string, ending = '.ts'): Map<string, string> {
  const files = new Map<string, string>()
  for (const name of readdirSync(folder, { recursive: true })) {
    const path = `${folder}/${String(name)}`
    if (path.endsWith(ending) && statSync(path).isFile())
      files.set(path, readFileSync(path, 'utf8'))
  }
  return files
}

/** These pages quote help texts and names of tests. */
const QUOTING = ['docs/reference.md', 'docs/requirements.md']

function documents(): readonly (readonly [path: string, text: string])[] {
  const pages = [...sources('docs', '.md').keys()].filter((path) => !QUOTING.includes(path))
  expect(pages.length).toBeGreaterThan(10)
  const top = ['README.md', 'ARCHITECTURE.md', 'HACKING.md', 'CHANGELOG.md', 'spec/requirements.md']
  return [...top, ...pages].map((path) => [path, readFileSync(path, 'utf8')])
}

/** Rooms that are programs and have no door. */
const PROGRAMS = ['cli', 'console']

describe('the house', () => {
  const files = new Map([
    ...sources('src'),
    ...sources('src', '.tsx'),
    ...sources('tests'),
    ...sources('bench', '.mjs'),
  ])

  it('keeps its law', () => {
    expect(inspect(files, HOUSE)).toEqual([])
  })

  it('was really looked at', () => {
    expect(files.size).toBeGreaterThan(40)
    const rooms = readdirSync('src', { withFileTypes: true }).filter((entry) => entry.isDirectory())
    expect(rooms.length).toBeGreaterThan(2)
    for (const { name } of rooms)
      expect(files.has(`src/${name}/index.ts`) || PROGRAMS.includes(name)).toBe(true)
  })

  it('has a heading in ARCHITECTURE.md for every room, and none else', () => {
    const headings = [...readFileSync('ARCHITECTURE.md', 'utf8').matchAll(/^### src\/(\w+)/gm)]
    const rooms = readdirSync('src', { withFileTypes: true }).filter((entry) => entry.isDirectory())
    expect(headings.map(([, room]) => room).sort()).toEqual(rooms.map(({ name }) => name).sort())
  })

  it('lets only the command line and the server see the constitution (K-6)', () => {
    for (const [name, { sees }] of Object.entries(ROOMS)) {
      if (name !== 'cli' && name !== 'server') expect(sees).not.toContain('constitution')
    }
    expect(ROOMS['constitution']?.sees).toEqual(['base', 'contracts'])
  })

  it('exports nothing that no file imports', () => {
    expect(unusedExports(files, isOpen)).toEqual([])
  })

  it('has no two folders that import each other, but for the listed ones', () => {
    expect(folderCircles(files)).toEqual(CIRCLES)
  })

  it('has no folder with more than 25 source files, but for the listed ones', () => {
    expect([...fullFolders(files)].sort()).toEqual(Object.keys(FULL).sort())
  })

  it('gives no name to two exported types', () => {
    expect(homonyms(files)).toEqual([])
  })

  it('names no type after an activity', () => {
    expect(gerunds(files)).toEqual([])
  })

  it('has one opener, one remover, one sync, one retry and one way to step', () => {
    expect(seconds(files)).toEqual([])
  })

  it('has no switch that a new kind could slip through', () => {
    const texts = [...files].filter(
      ([path]) => path.startsWith('src/') && !path.endsWith('.test.ts'),
    )
    expect(texts.filter(([, text]) => /\bswitch \(/.test(text)).length).toBeGreaterThan(40)
    expect(placesOf(texts, looseSwitches)).toEqual([])
  })

  it('has no hard word in a comment', () => {
    // The words in this file are seeds for the guard.
    const texts = [...files].filter(([path]) => path !== 'tests/house.test.ts')
    expect(placesOf(texts, hardComments)).toEqual([])
  })

  it('has no hard word in a message, in an example, or in the title of a test', () => {
    const texts = [...files].filter(
      ([path]) => path.startsWith('src/') && !path.endsWith('.test.ts'),
    )
    const tests = [...files].filter(
      ([path]) =>
        path !== 'tests/house.test.ts' && (path.endsWith('.test.ts') || path.startsWith('tests/')),
    )
    const examples = [...sources('examples', '')].filter(([path]) => !path.endsWith('.png'))
    expect(examples.length).toBeGreaterThan(10)
    expect(placesOf(texts, hardTexts)).toEqual([])
    expect(placesOf(tests, hardTitles)).toEqual([])
    expect(placesOf(examples, hardWords)).toEqual([])
  })

  it('has no cast without a comment', () => {
    const texts = [...files].filter(
      ([path]) => path.startsWith('src/') && !path.endsWith('.test.ts'),
    )
    expect(placesOf(texts, bareCasts)).toEqual([])
  })

  it('has no hard word in a document', () => {
    expect(placesOf(documents(), hardWords)).toEqual([])
  })

  it('imports no room in a circle', () => {
    for (const start of Object.keys(ROOMS)) expect(reach(start)).not.toContain(start)
  })
})

/** Returns `file: found` for everything that is found in some texts. */
function placesOf(
  texts: readonly (readonly [string, string])[],
  find: (text: string) => readonly unknown[],
): readonly string[] {
  return texts.flatMap(([path, text]) => find(text).map((found) => `${path}: ${String(found)}`))
}

function reach(start: string): readonly string[] {
  const seen = new Set<string>()
  const open = [...(ROOMS[start]?.sees ?? [])]
  for (let room = open.pop(); room !== undefined; room = open.pop()) {
    if (seen.has(room)) continue
    seen.add(room)
    open.push(...(ROOMS[room]?.sees ?? []))
  }
  return [...seen]
}

describe('every guard goes red on a seeded breach', () => {
  const header = '/** A file. */\n'
  const small: House = {
    rooms: {
      base: { sees: [], pure: true, packages: [] },
      gate: { sees: ['base'], pure: true, packages: ['typebox'] },
      host: { sees: ['base', 'gate'], pure: false, packages: [] },
    },
    exceptions: {},
    oversized: [],
  }
  const breach = (path: string, text: string, house: House = small): readonly string[] =>
    inspect(new Map([[path, text]]), house)

  it.each([
    [
      'a forbidden room',
      'src/base/a.ts',
      `import { b } from '../gate/index.ts'`,
      'base may not see gate',
    ],
    [
      'double quotes',
      'src/base/a.ts',
      `import { b } from "../gate/index.ts"`,
      'base may not see gate',
    ],
    [
      'a dynamic import',
      'src/base/a.ts',
      `const b = import('../gate/index.ts')`,
      'base may not see gate',
    ],
    [
      'a re-export',
      'src/base/a.ts',
      `export { b } from '../gate/index.ts'`,
      'base may not see gate',
    ],
    [
      'a side door',
      'src/gate/a.ts',
      `import { b } from '../base/hash.ts'`,
      'enter base by its index.ts',
    ],
    ['a room without a row', 'src/attic/a.ts', '', 'the room attic is not in the law'],
    ['leaving src', 'src/host/a.ts', `import x from '../../tools/x.ts'`, 'leaves src'],
    [
      'a strange package',
      'src/gate/a.ts',
      `import x from 'lodash'`,
      'the package lodash may not be imported',
    ],
    [
      'a scoped package',
      'src/gate/a.ts',
      `import x from '@a/b/c'`,
      'the package @a/b may not be imported',
    ],
    [
      'a clock',
      'src/gate/a.ts',
      'export const now = Date.now()',
      'a pure room touches the machine',
    ],
    [
      'a bare new Date',
      'src/gate/a.ts',
      'export const now = new Date()',
      'a pure room touches the machine',
    ],
    [
      'chance',
      'src/gate/a.ts',
      'export const dice = Math.random()',
      'a pure room touches the machine',
    ],
    [
      'the process',
      'src/gate/a.ts',
      'export const env = process.env',
      'a pure room touches the machine',
    ],
    [
      'a node module',
      'src/gate/a.ts',
      `import fs from 'node:fs'`,
      'a pure room touches the machine',
    ],
    ['a timer', 'src/gate/a.ts', 'setTimeout(go, 1)', 'a pure room touches the machine'],
    ['the network', 'src/gate/a.ts', `fetch('x')`, 'a pure room touches the machine'],
    ['export everything', 'src/gate/a.ts', `export * from './b.ts'`, 'exports everything'],
    ['a default export', 'src/gate/a.ts', 'export default 1', 'has a default export'],
    ['a drawer', 'src/gate/utils.ts', '', 'is a drawer'],
    ['a banned name', 'src/gate/a.ts', 'export class RuleManager {}', 'banned name'],
    [
      'a machine path',
      'src/gate/a.ts',
      `const x = '${'/ro'}${'ot/x'}'`,
      'names a path of one machine',
    ],
    [
      'a timed test',
      'src/gate/a.test.ts',
      `expect(Date.${'now() - began).to'}BeLessThan(9)`,
      'holds a run to a time',
    ],
    [
      'a program by the PATH',
      'src/host/a.ts',
      `import { readFileSync } from 'node:fs'\nimport { spawn } from 'node:child_process'`,
      'starts programs',
    ],
    [
      'a program by an import in between',
      'src/cli/a.ts',
      `const { execFile } = await import('child_process')`,
      'starts programs',
    ],
    [
      'another way to SQLite',
      'tests/a.test.ts',
      `import BetterSqlite from 'better-${'sqlite3'}'`,
      'opens SQLite',
    ],
    [
      'another way to SQLite in a bench',
      'bench/a.bench.mjs',
      `const { DatabaseSync } = await import('node:${'sqlite'}')`,
      'opens SQLite',
    ],
    ['a long file', 'src/gate/a.ts', '\n'.repeat(501), 'is longer than 500 lines'],
  ])('%s', (_, path, text, words) => {
    expect(breach(path, header + text).join('\n')).toContain(words)
    expect(breach(path, `${header}export const a = 1\n`).join('\n')).not.toContain(
      words === 'is a drawer' || words.startsWith('the room attic') ? '\u0000' : words,
    )
  })

  it('an export without an importer', () => {
    const house = new Map([
      ['src/gate/a.ts', 'export const a = 1\nexport interface B {}\nexport function c() {}\n'],
      ['src/gate/b.ts', "import { a } from './a.ts'\nexport { c as d } from './a.ts'\n"],
      ['tests/b.test.ts', "import { d } from '../src/gate/b.ts'\n"],
    ])
    expect(unusedExports(house, () => false)).toEqual(['src/gate/a.ts#B'])
    expect(unusedExports(house, (path) => path === 'src/gate/a.ts')).toEqual([])
    house.delete('tests/b.test.ts')
    expect(unusedExports(house, () => false)).toEqual(['src/gate/a.ts#B', 'src/gate/b.ts#d'])
  })

  it('folders that import each other, and a folder that is too full', () => {
    const house = new Map([
      ['src/gate/a.ts', "import { b } from './network/b.ts'\n"],
      ['src/gate/network/b.ts', "const a = await import('../a.ts')\n"],
    ])
    expect(folderCircles(house)).toEqual(['src/gate <> src/gate/network'])
    house.delete('src/gate/a.ts')
    expect(folderCircles(house)).toEqual([])
    for (let n = 0; n < 25; n++) house.set(`src/gate/${n}.ts`, '')
    expect(fullFolders(house)).toEqual([])
    house.set('src/gate/25.ts', '')
    expect(fullFolders(house)).toEqual(['src/gate'])
  })

  it('a name of two types, and a type that is named after an activity', () => {
    const house = new Map([
      ['src/gate/a.ts', 'export interface Draft {}\nexport class Proposing {}\n'],
      ['src/gate/b.ts', 'interface Draft {}\nclass Asking {}\nexport type RecordFinding = Draft\n'],
      ['src/gate/index.ts', "export type { Draft } from './a.ts'\n"],
    ])
    expect(homonyms(house)).toEqual([])
    expect(gerunds(house)).toEqual(['src/gate/a.ts: Proposing', 'src/gate/b.ts: Asking'])
    house.set('src/flow/c.ts', 'export type Draft = string\n')
    expect(homonyms(house)).toEqual(['Draft: src/gate/a.ts, src/flow/c.ts'])
    house.set('src/flow/c.ts', "export { type Other as Draft } from './d.ts'\n")
    expect(homonyms(house)).toEqual(['Draft: src/gate/a.ts, src/flow/c.ts'])
  })

  it.each([
    ['opens an entry', 'const flags = constants.O_RDONLY | constants.O_NOFOLLOW'],
    ['opens an entry', 'const { O_CREAT, O_NOFOLLOW } = constants'],
    ['removes a tree', "rmSync(join(place, 'a'), { recursive: true, force: true })"],
    ['removes a tree', 'await rm(place, { force: true, recursive: true })'],
    ['syncs a directory', "const h = openSync(place, 'r')\n  try {\n    fsyncSync(h)\n  }"],
    ['syncs a directory', 'const sync = promisify(fsync)'],
    ['repeats an append', "if (faultCode(error) === 'ledger.head_moved') continue"],
    ['steps a flow', 'const { state } = step(before, event)'],
  ])('a second thing that %s', (what, text) => {
    expect(seconds(new Map([['src/store/a.ts', text]]))[0]).toContain(`src/store/a.ts: ${what}`)
    expect(seconds(new Map([['src/store/a.ts', 'rmSync(file, { force: true })']]))).toEqual([])
  })

  it('a switch that a new kind could slip through', () => {
    const closed = (rest: string): string =>
      `switch (kind) {\n  case 'a':\n    return 1\n${rest}}\n`
    expect(looseSwitches(closed(''))).toEqual([1])
    expect(looseSwitches(closed('  default:\n    return 2\n'))).toEqual([1])
    expect(looseSwitches(closed('  default:\n    return kind satisfies never\n'))).toEqual([])
    expect(looseSwitches(closed('  // The others only read.\n  default:\n    return 2\n'))).toEqual(
      [],
    )
  })

  it('a hard word and a cast without a comment', () => {
    expect(hardWords('Nobody is told what stands besides it.')).toEqual([
      'nobody',
      'is told',
      'stands',
    ])
    expect(hardComments("/** Whoever asks. */\nconst nobody = 'somebody' // anew\n")).toEqual([
      'whoever',
      'anew',
    ])
    expect(
      hardTexts(`const told = 'nobody'\nconst a = \`it is told to $\{nobody} anew\`\n`),
    ).toEqual(['is told', 'anew', 'told'])
    expect(hardTexts("  title: 'Somebody says it.',\n// 'is told so'\n")).toEqual([])
    expect(hardTitles("it('asks nobody twice', () => say('to nobody else'))")).toEqual(['nobody'])
    expect(hardTitles("it.each([['a']])('is told %s', () => {})")).toEqual(['is told', 'told'])
    expect(bareCasts("import { a as b } from './a.ts'\nconst c = b as Digest\n")).toEqual([2])
    expect(bareCasts('// The shape of a digest.\nconst c = b as Digest\n')).toEqual([])
    expect(bareCasts("const c = [1] as const\nconst d = 'as it is'\n")).toEqual([])
    expect(bareCasts('const c = `\n\n\n\nas good as new`\nconst d = c as Digest\n')).toEqual([6])
  })

  it('a door whose header is not the law', () => {
    const door = (text: string): string => breach('src/host/index.ts', text).join('\n')
    expect(door('/** Room: host. Acts. Sees base and gate. */\n')).toBe('')
    expect(door('/** Room: host. Acts. Sees base. */\n')).toContain('the header is not')
    expect(door('/** Room: gate. Acts. Sees base and gate. */\n')).toContain('the header is not')
  })

  it('a missing header', () => {
    expect(breach('src/gate/a.ts', 'export const a = 1\n').join()).toContain('header comment')
  })

  it('a stale exception and a stale size', () => {
    const stale = { ...small, exceptions: { 'src/gate/a.ts': 'why' }, oversized: ['src/gate/a.ts'] }
    const found = breach('src/gate/a.ts', `${header}export const a = 1\n`, stale).join('\n')
    expect(found).toContain('listed as an exception, but pure')
    expect(found).toContain('listed as oversized, but is not')
  })
})
