/**
 * What a person sees before being asked: escapes, diffs, order, completeness. Over 500 lines on purpose:
 * every case is a few lines on one rig of changes and contents.
 */
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CODES, type Digest, isCode } from '../../base/index.ts'
import {
  type Change,
  displayOfRaw,
  type EntryState,
  type Finding,
  type RawPath,
  rawOfBytes,
  rawOfText,
} from '../../gate/index.ts'
import {
  countsText,
  failureText,
  sizeText,
  visible,
  visibleLine,
  visiblePath,
} from '../../words/index.ts'
import { paint } from '../call/terminal.ts'
import { readContent } from './change-text.ts'
import { diffLines, type LineDiff } from './line-diff.ts'
import { questionText, readAnswer, shortDigest } from './question-text.ts'
import { type ReadSide, renderEffects, type View } from './render.ts'
import { RESET, RESET_TERMINAL, resetFor, SeenOutput } from './reset.ts'
import { rowsOf } from './sections.ts'

const BASE = rawOfText('/home/ann/shop')
const PLAIN: View = { paint: paint(false), base: BASE, whole: false }

const bodies = new Map<string, Buffer>()

function digestOf(bytes: Buffer): Digest {
  const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}` as Digest
  bodies.set(digest, bytes)
  return digest
}

function state(more: Partial<EntryState>): EntryState {
  return {
    kind: 'file',
    mode: 0o644,
    size: 0,
    digest: null,
    target: null,
    attributes: [],
    owner: null,
    mtimeNs: '0',
    linkGroup: null,
    ...more,
  }
}

function file(content: string | Buffer, more: Partial<EntryState> = {}): EntryState {
  const bytes = Buffer.from(content as string)
  return state({ size: bytes.length, digest: digestOf(bytes), ...more })
}

const directory = state({ kind: 'directory', mode: 0o755 })

function change(path: string | RawPath, before: EntryState | null, after: EntryState | null) {
  const raw = path.startsWith('/') ? (path as RawPath) : rawOfText(`${BASE}/${path}`)
  return { path: raw, before, after } satisfies Change
}

const read: ReadSide = ({ before, after }, side) => {
  const bytes = bodies.get((side === 'before' ? before : after)?.digest ?? '')
  return bytes === undefined ? null : iterate(bytes)
}

async function* iterate(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let from = 0; from < bytes.length; from += 65_536) yield bytes.subarray(from, from + 65_536)
}

const DEFERRED = 'effect.deferred_execution'
const BUILD = 'effect.build_execution'

async function render(
  changes: readonly Change[],
  findings: readonly Finding[] = [],
  view: Partial<View> = {},
): Promise<string> {
  const sorted = changes.toSorted((one, other) => (one.path < other.path ? -1 : 1))
  let text = ''
  const named = new Set(findings.flatMap(({ code, path }) => (code === DEFERRED ? [path] : [])))
  const later = sorted.filter(({ path }) => named.has(displayOfRaw(path)))
  const deferred = new Set(later.map(({ path }) => path))
  const built = new Set(findings.flatMap(({ code, path }) => (code === BUILD ? [path] : [])))
  const builds = new Set(
    sorted.map(({ path }) => path).filter((path) => built.has(displayOfRaw(path))),
  )
  const effects = { changes: sorted, findings, deferred, builds, read }
  for await (const piece of renderEffects(effects, { ...PLAIN, ...view })) text += piece
  return text
}

const OBEYED = /[\p{Cc}\u200b-\u200f\u202a-\u202e\u2066-\u2069]/u

describe('names and contents', () => {
  it.each([
    ['a  b', 'a\\x20\\x20b'],
    [' lead', '\\x20lead'],
    ['trail ', 'trail\\x20'],
    ['d /x', 'd\\x20/x'],
    ['one two', 'one two'],
    ['e\u0301', 'e\\u0301'],
    ['back\\slash', 'back\\\\slash'],
  ])('a name %j cannot forge a row', (name, shown) => {
    expect(visiblePath(rawOfText(name))).toBe(shown)
  })

  it.each([
    ['a\u001b[2Jb', 'a\\u001b[2Jb'],
    ['a\nb', 'a\\u000ab'],
    ['evil\u202etxt.exe', 'evil\\u202etxt.exe'],
    ['pay\u200bpal', 'pay\\u200bpal'],
    ['tag\u{e0041}', 'tag\\u{e0041}'],
    ['no\u00a0break', 'no\\u00a0break'],
    ['filler\u3164', 'filler\\u3164'],
    ['half\ud800', 'half\\ud800'],
    ['note\ufff9', 'note\\ufff9'],
    ['csi\u009b31m', 'csi\\u009b31m'],
    ['empty\u2800', 'empty\\u2800'],
    ['\u05d0\u05d1', '\\u05d0\\u05d1'],
    ['zalgo\u0301\u0302\u0303', 'zalgo\u0301\u0302\\u0303'],
    ['slash/\u0338', 'slash/\\u0338'],
    ['näme 名前 😀', 'näme 名前 😀'],
    ['', ''],
  ])('%j', (text, shown) => {
    expect(visible(text)).toBe(shown)
  })

  it('doubles the backslash of a name, and shows bytes that spell nothing', () => {
    expect(visiblePath(rawOfText('/a\\u202e'))).toBe('/a\\\\u202e')
    expect(visiblePath(rawOfBytes(Buffer.from([0x2f, 0xff, 0x61, 0xc3])))).toBe('/\\xffa\\xc3')
    expect(visiblePath(rawOfBytes(Buffer.from([0xff, 0xe2, 0x80, 0xae])))).toBe('\\xff\\u202e')
  })

  it('draws tabs in lines, marks escapes apart', () => {
    expect(visibleLine('\ta\tb')).toBe('→   a→  b')
    const style = { text: (text: string) => text, escaped: (text: string) => `<${text}>` }
    expect(visibleLine('a\r', style)).toBe('a<\\u000d>')
  })

  it('lets nothing through that a terminal obeys', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(visible(text)).not.toMatch(OBEYED)
        expect(visibleLine(text)).not.toMatch(OBEYED)
      }),
    )
  })
})

/** Applies a diff to the old text; what a reader of it would do. */
function apply(before: string, { hunks }: LineDiff): string {
  const lines = before.split(/(?<=\n)/)
  const out: string[] = []
  let at = 0
  for (const { oldStart, oldCount, lines: hunkLines } of hunks) {
    const from = oldCount === 0 ? oldStart : oldStart - 1
    out.push(...lines.slice(at, from))
    at = from
    for (const { sign, text, isOpen } of hunkLines) {
      const line = isOpen ? text : `${text}\n`
      if (sign !== '+') expect(lines[at++]).toBe(line)
      if (sign !== '-') out.push(line)
    }
  }
  return [...out, ...lines.slice(at)].join('')
}

describe('lines', () => {
  const text = fc
    .array(fc.constantFrom('a', 'b', 'c', '', '\r'), { maxLength: 40 })
    .chain((lines) => fc.constantFrom(lines.join('\n'), `${lines.join('\n')}\n`))

  it('a diff applied to the old text gives the new one', () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        expect(apply(before, diffLines(before, after))).toBe(after)
      }),
    )
  })

  it('three lines stand around a change, and near changes share a hunk', () => {
    const lines = Array.from({ length: 30 }, (_, index) => `line ${index}\n`)
    const after = lines.with(4, 'x\n').with(10, 'y\n').with(25, 'z\n').join('')
    const { hunks, removed, added } = diffLines(lines.join(''), after)
    expect({ removed, added }).toEqual({ removed: 3, added: 3 })
    expect(hunks.map(({ oldStart, oldCount }) => [oldStart, oldCount])).toEqual([
      [2, 13],
      [23, 7],
    ])
  })

  it('is bounded: a hopeless pair is one block, complete, and soon', () => {
    const many = (word: string) =>
      Array.from({ length: 60_000 }, (_, index) => `${word} ${index}\n`).join('')
    const found = diffLines(`same\n${many('a')}same\n`, `same\n${many('b')}same\n`)
    expect(found).toMatchObject({ isShortest: false, removed: 60_000, added: 60_000 })
    expect(found.hunks[0]?.lines).toHaveLength(120_002)
  })
})

describe('effects', () => {
  it('deletions first, then what runs by itself, then changes, then additions by directory', async () => {
    const text = await render(
      [
        change('a.txt', file('one\n'), file('two\n')),
        change('old.log', file('x'.repeat(1200)), null),
        change('.git/hooks/pre-commit', null, file('#!/bin/sh\nrm -rf ~\n', { mode: 0o755 })),
        change('src/new.ts', null, file('new\n')),
      ],
      [
        { code: 'effect.deferred_execution', path: '/home/ann/shop/.git/hooks/pre-commit' },
        { code: 'effect.discarded', path: '/home/ann/.cache', detail: '3 entries' },
      ],
    )
    expect(text).toBe(`
Deleted (1)
  - old.log (file, 1.2 kB)

Runs by itself later (1)
  other programs start or load these without being asked
  + .git/hooks/pre-commit (new file, 19 bytes, executable)
      0 lines removed, 2 lines added
      @@ -0,0 +1,2 @@
      +#!/bin/sh
      +rm -rf ~

Changed (1)
  ~ a.txt
      1 line removed, 1 line added
      @@ -1,1 +1,1 @@
      -one
      +two

Added (1)
  + src/ (1 file, 4 bytes)
      new.ts (file, 4 bytes)

Found (1)
${codeSays('effect.discarded')} (effect.discarded)
      /home/ann/.cache: 3 entries
`)
  })

  it('never leaves out a deletion, counts the rest, and shows all in the whole view', async () => {
    const many = Array.from({ length: 500 }, (_, index) => index)
    const changes = [
      ...many.map((index) => change(`gone/${index}`, file('x'), null)),
      ...many.map((index) => change(`kept/${index}`, file('x'), file(`${index}`))),
      change('made', null, directory),
      ...many.map((index) => change(`made/${index}`, null, file('12'))),
    ]
    const text = await render(changes)
    for (const index of many) expect(text).toContain(`- gone/${index} `)
    expect(text).toContain('By directory\n  gone/ 500 deleted\n  kept/ 500 changed\n')
    expect(text).toContain('~ and 498 more files; `a` shows them\n')
    expect(text.split('\n').length).toBeLessThan(700)
    expect(text).toContain('+ made/ (new directory, 500 files, 1.0 kB); `a` lists them\n')
    expect(text).toContain('Added (501)')
    const whole = await render(changes, [], { whole: true })
    for (const index of many) {
      expect(whole).toContain(`      ${index} (file, 2 bytes)\n`)
      expect(whole).toContain(`~ kept/${index}\n`)
    }
  })

  it('a deleted directory represents all that was in it', async () => {
    const many = Array.from({ length: 30 }, (_, index) => index)
    const changes = [
      change('old', directory, null),
      ...many.map((index) => change(`old/${index}`, file('12'), null)),
    ]
    const text = await render(changes)
    expect(text).toContain('Deleted (31)\n  - old (directory with all in it: 30 files, 60 bytes)\n')
    expect(await render(changes, [], { whole: true })).toContain('- old/7 (file, 2 bytes)')
  })

  it('names every path that runs by itself, no matter what the findings name', async () => {
    const hooks = Array.from({ length: 300 }, (_, index) => change(`.h/${index}`, null, file('x')))
    const effects = {
      changes: hooks.toSorted((one, other) => (one.path < other.path ? -1 : 1)),
      findings: [
        { code: DEFERRED, path: '/home/ann/shop/.h/0' },
        { code: DEFERRED, detail: 'and 299 more' },
      ],
      deferred: new Set(hooks.map(({ path }) => path)),
      builds: new Set<RawPath>(),
      read,
    }
    let text = ''
    for await (const piece of renderEffects(effects, PLAIN)) text += piece
    for (const index of hooks.keys()) expect(text).toContain(`+ .h/${index} (new file`)
  })

  it('counts by directory what a build runs, and lists all of it in the whole view', async () => {
    const made = Array.from({ length: 300 }, (_, index) =>
      change(`p${index % 2}/${index}/Makefile`, null, file('x')),
    )
    const changes = made.toSorted((one, other) => (one.path < other.path ? -1 : 1))
    const builds = new Set(made.map(({ path }) => path))
    const findings = [
      { code: BUILD, path: '/home/ann/shop/p0/0/Makefile' },
      { code: BUILD, detail: 'and 299 more' },
    ]
    const shown = async (view: View): Promise<string> => {
      const effects = { changes, findings, deferred: new Set<RawPath>(), builds, read }
      let text = ''
      for await (const piece of renderEffects(effects, view)) text += piece
      return text.slice(text.indexOf('Runs when'), text.indexOf('\nAdded'))
    }
    expect(await shown(PLAIN)).toBe(
      'Runs when you build or test (300)\n  p0/ 150 added\n  p1/ 150 added\n  `a` lists them\n',
    )
    const whole = await shown({ ...PLAIN, whole: true })
    for (const index of made.keys()) expect(whole).toContain(`  p${index % 2}/${index}/Makefile\n`)
  })

  it('leaves room for the head and the question on two screens', async () => {
    const lines = Array.from({ length: 200 }, (_, index) => `line ${index}`).join('\n')
    const later = ['activate', 'activate.fish', 'python'].map((name) => `.venv/bin/${name}`)
    const changes = [
      ...later.map((path) => change(path, null, file(lines))),
      ...Array.from({ length: 30 }, (_, n) => change(`p${n}/m${n}`, null, file('x'))),
      ...Array.from({ length: 20 }, (_, n) => change(`src/${n}`, file('x'), file(lines))),
    ]
    const dropped = Array.from({ length: 90 }, (_, n) => ({
      code: 'effect.discarded',
      path: `/home/ann/shop/.venv/lib/${n}/__pycache__`,
      detail: '3 entries',
    }))
    const found = later.map((path) => ({ code: DEFERRED, path: `/home/ann/shop/${path}` }))
    const text = await render(changes, [...found, ...dropped], { columns: 80 })
    expect(rowsOf(text, 80)).toBeLessThanOrEqual(32)
    for (const path of later) expect(text).toContain(`+ ${path} (new file`)
    expect(text).toContain('      .venv/ 90 paths\n      `a` lists them\n')
    const whole = await render(changes, [...found, ...dropped], { whole: true })
    for (const { path } of dropped) expect(whole).toContain(`      ${path}: 3 entries\n`)
  })

  it('counts findings that the record only counts', async () => {
    const named = Array.from({ length: 200 }, (_, index) => ({
      code: 'effect.undeclared',
      path: `/x/${index}`,
    }))
    const findings = [...named, { code: 'effect.undeclared', detail: 'and 50 more' }]
    const text = await render([change('a', null, file('x'))], findings)
    expect(text).toContain('Found (250)\n')
    expect(text).toContain('      /x 200 paths\n      and 50 more; `a` lists them\n')
  })

  it('shows modes, owners and attributes of what is new, also where it is only counted', async () => {
    const many = Array.from({ length: 30 }, (_, index) => change(`made/${index}`, null, file('x')))
    const text = await render([
      change('made', null, state({ kind: 'directory', mode: 0o2777 })),
      ...many,
      change('made/odd', null, file('x', { mode: 0o666 })),
      change('near', null, file('x', { attributes: [['user.note', '6869']] })),
      change('theirs', null, file('x', { owner: { uid: 65534, gid: 65534 } })),
    ])
    expect(text).toContain('mode 2777 (any user can write to it)\n')
    expect(text).toContain('odd: mode 0666 (any user can write to it)\n')
    expect(text).toContain('attribute user.note added: “hi”\n')
    expect(text).toContain('owner 65534:65534\n')
  })

  it('cuts a long line around its change', async () => {
    const long = 'x'.repeat(100_000)
    const text = await render([
      change('min.js', file(`${long}a${long}\n`), file(`${long}b${long}\n`)),
    ])
    expect(text.length).toBeLessThan(2_000)
    expect(text).toMatch(/-\[99920 characters\] … x{80}ax{80} … \[99920 characters\]/)
    expect(text).toMatch(/\+\[99920 characters\] … x{80}bx{80} …/)
  })

  it('shows the first and the last change of a long line, and says that more may differ', async () => {
    const [far, near] = ['y'.repeat(9_000), 'x'.repeat(40)]
    const text = await render([
      change('min.js', file(`${near}v1${far}safe()\n`), file(`${near}v2${far}EVIL()\n`)),
    ])
    expect(text).toMatch(/-x{40}v1y.* … \[\d+ characters that may differ: show all\] … y+safe\(\)/)
    expect(text).toMatch(/\+x{40}v2y.* … \[\d+ characters that may differ: show all\] … y+EVIL\(\)/)
    expect(text.length).toBeLessThan(2_000)
  })

  it('shortens paths of a narrow terminal in the middle', async () => {
    const path = `deep/${'directory/'.repeat(8)}name.ts`
    const text = await render([change(path, file('a\n'), file('b\n'))], [], { columns: 60 })
    const [row = ''] = text.split('\n').filter((line) => line.includes('name.ts'))
    expect(row.length).toBeLessThanOrEqual(60)
    expect(row).toMatch(/^ {2}~ deep\/dir.*….*name\.ts$/)
  })

  it('a directory that is new is reported once, with all that is in it', async () => {
    const text = await render([
      change('lib', null, directory),
      change('lib/a', null, directory),
      change('lib/a/b', null, file('12345')),
      change('lib/link', null, state({ kind: 'symlink', target: rawOfText('/etc/passwd') })),
      change('lib-x', null, file('1')),
    ])
    expect(text).toContain('  + ./ (1 file, 1 byte)\n      lib-x (file, 1 byte)\n')
    expect(text).toContain('  + lib/ (new directory, 1 file, 1 link, 1 directory, 5 bytes)\n')
    expect(text).toContain('      link (link to /etc/passwd)\n')
    expect(text).toContain('      a/b (file, 5 bytes)\n')
  })

  it('tells modes, links, owners, attributes and changes of kind', async () => {
    const target = (text: string) => state({ kind: 'symlink', target: rawOfText(text) })
    const text = await render([
      change('run', file('x'), file('x', { mode: 0o755 })),
      change('link', target('a'), target('b\u202e')),
      change(
        'owned',
        file('x', { owner: { uid: 0, gid: 0 } }),
        file('x', { owner: { uid: 1, gid: 2 } }),
      ),
      change(
        'note',
        file('x', { attributes: [['user.a', '6869']] }),
        file('x', { attributes: [['user.b', 'ff00']] }),
      ),
      change('swap', file('x'), directory),
    ])
    expect(text).toContain('~ run\n      mode 0644 → 0755 (can be run now)\n')
    expect(text).toContain('~ link\n      link a → b\\u202e\n')
    expect(text).toContain('owner 0:0 → 1:2\n')
    expect(text).toContain('attribute user.a removed: “hi”\n      attribute user.b added: 0xff00\n')
    expect(text).toContain('- swap (file, 1 byte), replaced by a directory\n')
    expect(text).toContain('+ swap/ (new directory)\n')
  })

  it('says what is not text, too long or gone, and shows odd names and contents harmlessly', async () => {
    const gone = state({ digest: `sha256:${'0'.repeat(64)}` as Digest, size: 5 })
    const text = await render([
      change('pic', file(Buffer.from([1, 0, 2])), file(Buffer.from([1, 0, 2, 3]))),
      change('long', file('x\n'.repeat(3_000_000)), file('y\n')),
      change('gone', gone, file('x')),
      change('odd\n\u001b[31m', file('a\n'), file('b\u202e\u001b[2J\n')),
      change('open', file('a'), file('a\n')),
      change(rawOfBytes(Buffer.from('/home/ann/shop/\xff', 'latin1')), file('x'), null),
    ])
    expect(text).toContain('~ pic\n      not text, 3 bytes → 4 bytes\n')
    expect(text).toContain('too long to compare here, 3,000,000 lines → 1 line; `a` compares')
    expect(text).toContain('~ gone\n      cannot be shown (no longer kept), 5 bytes → 1 byte\n')
    expect(text).toContain('~ odd\\u000a\\u001b[31m\n')
    expect(text).toContain('+b\\u202e\\u001b[2J\n')
    expect(text).toContain('-a\n      \\ no line feed at the end\n      +a\n')
    expect(text).toContain('- \\xff ')
    expect(text).not.toContain('\u001b')
  })

  it('the whole view compares what the usual one finds too long', async () => {
    const changes = [
      change('long', file('x\n'.repeat(3_000_000)), file(`${'x\n'.repeat(2_999_999)}y\n`)),
    ]
    const text = await render(changes, [], { whole: true })
    expect(text).toContain('-x\n      +y\n')
  })

  it('paths outside the base are absolute', async () => {
    const text = await render([change(rawOfText('/home/ann/shopping'), file('x'), null)])
    expect(text).toContain('- /home/ann/shopping (')
  })

  it('colours only when asked, and they end before the line does', async () => {
    const changes = [change('a', file('one\n'), file('t\u0007wo\n'))]
    expect(await render(changes)).not.toContain('\u001b')
    const coloured = await render(changes, [], { paint: paint(true) })
    expect(coloured).toContain('\u001b[32m+\u001b[0m\u001b[32mt\u001b[0m\u001b[1m\\u0007\u001b[0m')
  })

  it('a stream that breaks is reported, not thrown', async () => {
    async function* broken(): AsyncGenerator<Buffer> {
      yield Buffer.from('a')
      throw Object.assign(new Error('no'), { code: 'EIO' })
    }
    expect(await readContent(broken(), 1, 10)).toEqual({ kind: 'unreadable', reason: 'EIO' })
    expect(await readContent(iterate(Buffer.alloc(20, 'a')), 5, 10)).toEqual({
      kind: 'long',
      lines: null,
    })
  })
})

/** As the page of codes has it. */
function codeSays(code: string): string {
  return isCode(code) ? `  ${CODES[code].says}` : ''
}

describe('a file whose lines end in CRLF', () => {
  it('says so once', async () => {
    const text = await render([change('a.ps1', file('a\r\nb\r\n'), file('a\r\nc\r\n'))])
    expect(text).toContain('1 line removed, 1 line added, lines end in CRLF\n')
    expect(text).not.toContain('u000d')
  })

  it.each(['a\r\nc\n', 'a\nc\r\n', 'a\r\nc\r'])(
    'shows each one where not all do: %j',
    async (now) => {
      const text = await render([change('a.ps1', file('a\r\nb\r\n'), file(now))])
      expect(text).toContain('u000d')
      expect(text).not.toContain('CRLF')
    },
  )
})

describe('references of git', () => {
  const OBJECT = `.git/objects/ab/${'c'.repeat(38)}`
  const [one, two] = ['1'.repeat(40), '2'.repeat(40)]
  const packed = (...lines: string[]) => file(`# pack-refs with: peeled\n${lines.join('\n')}\n`)
  const lines = async (...changes: Change[]) => {
    return (await render(changes)).split('\n').filter((line) => line.startsWith('  ~ '))
  }

  it('that are packed are neither set nor removed', async () => {
    const found = await lines(
      change('.git/packed-refs', null, packed(`${one} refs/tags/v1`, `${two} refs/stash`)),
      change('.git/refs/tags/v1', file(`${one}\n`), null),
      change('.git/refs/stash', file(`${two}\n`), null),
    )
    expect(found).toEqual([])
  })

  it('that are packed with another value are moved', async () => {
    const found = await lines(
      change('.git/packed-refs', null, packed(`${two} refs/heads/main`)),
      change('.git/refs/heads/main', file(`${one}\n`), null),
    )
    expect(found).toEqual(['  ~ moves main to 2222222'])
  })

  it('are removed with their line', async () => {
    const before = packed(`${one} refs/heads/old`, `${one} refs/tags/v1`)
    const found = await lines(change('.git/packed-refs', before, packed(`${one} refs/tags/v1`)))
    expect(found).toEqual(['  ~ .git/packed-refs', '  ~ removes the branch old'])
  })

  it.each([
    ['an emptied object', change(OBJECT, file('x'), file(''))],
    ['a new object without bytes', change(OBJECT, null, file(''))],
    ['a rewritten log', change('.git/logs/HEAD', file('one\n'), file('two\nthree\n'))],
    ['an emptied log', change('.git/logs/HEAD', file('one\n'), file(''))],
    ['a replaced object', change(`.git/refs/replace/${one}`, null, file(`${two}\n`))],
    ['an emptied branch', change('.git/refs/heads/main', file(`${one}\n`), file(''))],
    ['objects from elsewhere', change('.git/objects/info/alternates', null, file('/tmp\n'))],
    ['a HEAD without a branch', change('.git/HEAD', file('ref: refs/heads/a\n'), file(`${one}\n`))],
    ['a deleted branch', change('.git/refs/heads/main', file(`${one}\n`), null)],
    ['a history that is cut', change('.git/shallow', null, file(`${one}\n`))],
  ])('do not hide %s', async (_, made) => {
    const text = await render([made])
    expect(text).toContain('.git/')
    expect(text).toContain(made.path.slice(made.path.lastIndexOf('/') + 1))
  })

  it.each([
    ['.git/worktrees/side/HEAD', 'the current branch of the worktree side becomes main'],
    ['.git/modules/lib/HEAD', 'the current branch of the submodule lib becomes main'],
  ])('say whose branch %s is about', async (path, words) => {
    const text = await render([change(path, null, file('ref: refs/heads/main\n'))])
    expect(text).toContain(words)
    expect(text).not.toContain('the current branch becomes')
  })

  it('are shown in words, with the log and the new objects folded', async () => {
    const text = await render([
      change('.git/HEAD', file('ref: refs/heads/a\n'), file('ref: refs/heads/main\n')),
      change('.git/logs/HEAD', file('one\n'), file('one\ntwo\n')),
      change(OBJECT, null, file('x')),
      change('.git/refs/heads/main', file(`${one}\n`), file(`${two}\n`)),
    ])
    expect(text).toContain('the current branch becomes main')
    expect(text).toContain('moves main to 2222222')
    expect(text).not.toContain('.git/')
  })
})

describe('amounts', () => {
  it.each([
    [0, '0 bytes'],
    [1, '1 byte'],
    [999, '999 bytes'],
    [1000, '1.0 kB'],
    [999_949, '999.9 kB'],
    [999_950, '1.0 MB'],
    [91_234_567, '91.2 MB'],
  ])('%i', (bytes, text) => {
    expect(sizeText(bytes)).toBe(text)
  })

  it('counts', () => {
    expect(countsText({ added: 1234567, modified: 0, deleted: 2 })).toBe(
      '2 deleted, 1,234,567 added',
    )
    expect(countsText({ added: 0, modified: 0, deleted: 0 })).toBe('no effects')
  })
})

describe('the question', () => {
  const result = (status: string, more: object = {}) =>
    ({
      diff: { counts: { added: 3, modified: 0, deleted: 1 } },
      side_effects: {},
      execution: { status, exit_code: 0, signal: null, ...more },
      // biome-ignore lint/suspicious/noExplicitAny: only these parts are read
    }) as any
  // biome-ignore lint/suspicious/noExplicitAny: only these parts are read
  const asked = (given: any) => ({ result: given, resultDigest: digest })
  const digest = `sha256:${'1a2b3c4d5e6f7081'.repeat(4)}`

  it('repeats the counts and the first eight digits of the result', () => {
    const text = questionText(asked(result('SUCCESS')), 'exec', ['because it is'], paint(false))
    expect(text).toContain(
      '1 deleted, 3 added, result 1a2b3c4d: promote them? [y/N/later, a: show all] ',
    )
    expect(text).toContain('because it is\n')
    expect(shortDigest(digest)).toBe('1a2b3c4d')
  })

  it('says that the command failed, and how', () => {
    const failed = result('FAILURE', { exit_code: 2 })
    const text = questionText(asked(failed), 'exec', [], paint(false))
    expect(text).toContain('the command failed with status 2\n')
    expect(text).toContain('promote its effects all the same?')
    expect(failureText(result('FAILURE', { exit_code: null, signal: 'SIGKILL' }))).toBe(
      'the command was ended by SIGKILL',
    )
    expect(failureText(result('RESOURCE_KILLED', { killed_by: 'memory' }))).toContain('memory')
  })

  it.each([
    ['y', 'yes'],
    ['YES ', 'yes'],
    ['a', 'all'],
    ['', 'no'],
    ['n', 'no'],
    ['later', 'later'],
    ['l', 'later'],
    ['yep', null],
    ['\u001b[12;40Ry', null],
  ])('%j is %s', (line, answer) => {
    expect(readAnswer(line)).toBe(answer)
  })
})

describe('the reset', () => {
  it('ends open strings first and places the cursor last', () => {
    expect(RESET_TERMINAL.startsWith('\u0018\u001b\\')).toBe(true)
    expect(RESET_TERMINAL.endsWith('\r\n\u001b#5\u001b[J')).toBe(true)
    expect(RESET_TERMINAL).not.toContain('9999')
  })

  it('leaves palette and cursor alone unless the command could have changed them', () => {
    const seen = new SeenOutput()
    for (const piece of ['plain \u001b[31mred\u001b[0m\n', 'more']) seen.take(Buffer.from(piece))
    expect(resetFor(seen)).not.toContain('\u001b]104')
    expect(resetFor(seen)).not.toContain('\u001b[0 q')
    for (const piece of ['\u001b', ']11;#000\u0007', '\u001b[4 ', 'q'])
      seen.take(Buffer.from(piece))
    expect(resetFor(seen)).toContain('\u001b]104')
    expect(resetFor(seen)).toContain('\u001b[0 q')
  })

  it.each([
    ['charset', '\u001b(B'],
    ['shift in', '\u000f'],
    ['alternate screen', '\u001b[?1049l'],
    ['mouse', '\u001b[?1003l'],
    ['paste', '\u001b[?2004l'],
    ['cursor', '\u001b[?25h'],
    ['colours', '\u001b[0m'],
    ['palette', '\u001b]104'],
    ['background', '\u001b]111'],
    ['wrapping', '\u001b[?7h'],
    ['scrolling region', '\u001b[r'],
    ['printer', '\u001b[4i'],
    ['synchronised output', '\u001b[?2026l'],
  ])('%s', (_, sequence) => {
    expect(RESET_TERMINAL).toContain(sequence)
  })

  it('says of every row what it undoes', () => {
    for (const { sequence, undoes } of RESET)
      expect(sequence.length * undoes.length).toBeGreaterThan(0)
  })
})
