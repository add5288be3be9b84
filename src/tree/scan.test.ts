/**
 * What a scan sees: each kind of change alone, on a real overlay. Over 500 lines on purpose: the kinds
 * are one list.
 */
import { createHook } from 'node:async_hooks'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Overlay, openOverlay } from '../../tests/tree/overlay.ts'
import { treeHash } from '../../tests/tree/tree-hash.ts'
import { digestBytes } from '../base/index.ts'
import type { Change } from '../gate/index.ts'
import type { Layer } from '../sandbox/driver/driver.ts'
import { type Marker, makeMarker } from './marker.ts'
import { PATH_BYTES_MAX, type Scan, type ScanOptions, scanLayers } from './scan.ts'

let folder: string
let root: string
let overlay: Overlay | null

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'writ-scan-'))
  root = join(folder, 'real')
  mkdirSync(root)
  overlay = null
})

afterEach(async () => {
  await overlay?.close()
  rmSync(folder, { recursive: true, force: true })
})

function shell(script: string): void {
  execFileSync('sh', ['-ec', script], { cwd: root })
}

function mark(): Marker {
  // A file made in the tick before would look as if it had been made after the marker.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 12)
  return makeMarker(join(folder, 'place'), 'test', [root], Date.now)
}

function optionsFor(marker: Marker, more: Partial<ScanOptions> = {}): ScanOptions {
  return {
    marker,
    commandStartedAtMs: marker.madeAtMs + 20,
    maxBytes: 1 << 28,
    pathBytesMax: PATH_BYTES_MAX,
    scopeRoots: [root],
    isRoot: process.getuid?.() === 0,
    exclude: [],
    ...more,
  }
}

/** Makes the tree, rehearses the script over it, scans; the real tree must stay as it was. */
async function rehearse(
  before: string,
  script: string,
  more: Partial<ScanOptions> = {},
): Promise<Scan> {
  shell(before)
  const hash = treeHash(root)
  const marker = mark()
  overlay = await openOverlay(root, join(folder, 'work'))
  // Far enough behind the marker that the two are not of one tick.
  const waitMs = Math.max(0, marker.madeAtMs + 20 - Date.now())
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, waitMs)
  const commandStartedAtMs = Date.now()
  overlay.run(script)
  const options = optionsFor(marker, { commandStartedAtMs, ...more })
  const scan = await scanLayers([overlay.layer], options)
  expect(treeHash(root)).toBe(hash)
  return scan
}

/** `A` added, `D` deleted, `M` modified, `T` another kind; paths below the root. */
function brief(scan: Scan): readonly string[] {
  return scan.changes.map((change) => `${letter(change)} ${change.path.slice(root.length)}`)
}

function letter({ before, after }: Change): string {
  if (before === null) return 'A'
  if (after === null) return 'D'
  return before.kind === after.kind ? 'M' : 'T'
}

function codes({ findings }: Scan): readonly string[] {
  return findings.map(({ code, path }) => `${code} ${path.slice(root.length)}`)
}

describe('changes', () => {
  it.each([
    ['nothing', 'echo a > a', 'true', []],
    ['an added file', '', 'echo a > a', ['A /a']],
    ['an added tree', '', 'mkdir -p d/e; echo a > d/e/a', ['A /d', 'A /d/e', 'A /d/e/a']],
    ['a deleted file', 'echo a > a', 'rm a', ['D /a']],
    ['an appended file', 'mkdir d; echo a > d/a', 'echo b >> d/a', ['M /d/a']],
    ['a touched file', 'mkdir d; echo a > d/a', 'touch d/a; touch d', []],
    ['a file written as it was', 'echo a > a', 'rm a; echo a > a', []],
    ['a mode', 'echo a > a; chmod 644 a', 'chmod 755 a', ['M /a']],
    ['a mode of a directory', 'mkdir d', 'chmod 700 d', ['M /d']],
    ['the mode of the root', '', 'chmod 700 .', ['M ']],
    ['a rename', 'echo a > a', 'mv a b', ['D /a', 'A /b']],
    [
      'a renamed directory',
      'mkdir d; echo a > d/a',
      'mv d e',
      ['D /d', 'D /d/a', 'A /e', 'A /e/a'],
    ],
    ['a symbolic link', '', 'ln -s /etc/passwd l', ['A /l']],
    ['another target', 'ln -s a l', 'ln -sfn b l', ['M /l']],
    ['the same target', 'ln -s a l', 'rm l; ln -s a l', []],
    ['a file for a link', 'ln -s a l', 'rm l; echo a > l', ['T /l']],
    [
      'a file for a directory',
      'mkdir -p d/e; echo a > d/e/a',
      'rm -r d; echo a > d',
      ['T /d', 'D /d/e', 'D /d/e/a'],
    ],
    ['a directory for a file', 'echo a > d', 'rm d; mkdir d; echo b > d/b', ['T /d', 'A /d/b']],
    ['an empty file', '', ': > a', ['A /a']],
    ['a sparse file', '', 'truncate -s 5M a', ['A /a']],
    [
      'a removed directory',
      'mkdir -p d/e; echo a > d/e/a; ln -s x d/l',
      'rm -r d',
      ['D /d', 'D /d/e', 'D /d/e/a', 'D /d/l'],
    ],
    [
      'an emptied directory',
      'mkdir -p d/e; echo a > d/e/a',
      'rm -r d; mkdir d',
      ['D /d/e', 'D /d/e/a'],
    ],
    [
      'an opaque directory whose child exists in both',
      'mkdir -p d/e; echo a > d/e/a; echo b > d/e/b; echo c > d/c',
      'rm -r d; mkdir -p d/e; echo a > d/e/a; echo c > d/c',
      ['D /d/e/b'],
    ],
    [
      'opaque all the way down',
      'mkdir -p a/b/c; echo 1 > a/b/c/1; echo 2 > a/b/c/2; echo x > a/x',
      'rm -r a; mkdir -p a/b/c; echo n > a/b/c/1; echo x > a/x',
      ['M /a/b/c/1', 'D /a/b/c/2'],
    ],
    ['a user attribute', 'echo a > a', 'setfattr -n user.x -v 1 a', ['M /a']],
    [
      'the same attribute',
      'echo a > a; setfattr -n user.x -v 1 a',
      'setfattr -n user.x -v 1 a; touch a',
      [],
    ],
    [
      'a removed attribute',
      'echo a > a; setfattr -n user.x -v 1 a',
      'setfattr -x user.x a',
      ['M /a'],
    ],
    ['an attribute of the root', '', 'setfattr -n user.x -v 1 .', ['M ']],
    ['an attribute of a directory', 'mkdir d', 'setfattr -n user.x -v 1 d', ['M /d']],
    [
      'an access control list',
      'echo a > a',
      'setfattr -n system.posix_acl_access -v 0x0200000001000600ffffffff04000400ffffffff10000400ffffffff20000400ffffffff a',
      ['M /a'],
    ],
  ])('%s', async (_, before, script, want) => {
    const scan = await rehearse(before, script)
    expect(scan.findings).toEqual([])
    expect(brief(scan)).toEqual(want)
  })
})

describe('states', () => {
  it('carries everything of both sides', async () => {
    const { changes } = await rehearse(
      'printf old > a; chmod 640 a; setfattr -n user.x -v 1 a; ln -s old l',
      "printf new > a; chmod 600 a; setfattr -n user.x -v 2 a; ln -sfn new l; touch -d '2001-01-01 00:00:00.123456789Z' a",
    )
    const [file, link] = changes
    expect(file).toMatchObject({
      path: `${root}/a`,
      before: {
        kind: 'file',
        mode: 0o640,
        size: 3,
        attributes: [['user.x', '31']],
        linkGroup: null,
      },
      after: {
        mode: 0o600,
        size: 3,
        attributes: [['user.x', '32']],
        mtimeNs: '978307200123456789',
      },
    })
    expect(file?.before?.digest).toBe(digestBytes('old'))
    expect(file?.after?.digest).toBe(digestBytes('new'))
    expect(link).toMatchObject({
      before: { target: 'old' },
      after: { target: 'new', digest: null },
    })
  })

  it('keeps names that are not text', async () => {
    const { changes } = await rehearse(
      '',
      'printf a > "$(printf "n\\nl\\377")"; printf b > "$(printf "\\303\\251")"',
    )
    expect(changes.map(({ path }) => path.slice(root.length + 1))).toEqual(['n\nl\xff', '\xc3\xa9'])
  })

  it('keeps attributes of such names', async () => {
    const { changes, findings } = await rehearse(
      '',
      'f="$(printf "n\\nl\\377=")"; : > "$f"; setfattr -n "$(printf "user.n\\n=")" -v 0x0a "$f"; setfattr -n user.empty "$f"',
    )
    expect(findings).toEqual([])
    expect(changes[0]?.path).toBe(`${root}/n\nl\xff=`)
    expect(changes[0]?.after?.attributes).toEqual([
      ['user.empty', ''],
      ['user.n\n=', '0a'],
    ])
  })

  it('names links by their first path', async () => {
    const { changes } = await rehearse('', 'echo a > b; ln b a; ln b c; echo d > d')
    expect(changes.map(({ after }) => after?.linkGroup)).toEqual([
      ...Array.from({ length: 3 }, () => `${root}/a`),
      null,
    ])
  })

  it('streams a large file', async () => {
    const { changes } = await rehearse('', 'head -c 3000000 /dev/zero > a; printf x >> a')
    const bytes = new Uint8Array(3_000_001)
    bytes[3_000_000] = 0x78
    expect(changes[0]?.after).toMatchObject({ size: 3_000_001, digest: digestBytes(bytes) })
  })
})

describe('labels of a security module that does not run', () => {
  const label = 'setfattr -n security.selinux -v made-up a'

  it('are refused where the run wrote one', async () => {
    const scan = await rehearse('', `echo a > a; ${label}`)
    expect(codes(scan)).toEqual(['diff.unsupported /a'])
    expect(scan.findings[0]?.detail).toBe('attribute security.selinux')
  })

  it('are no matter where the file had it before', async () => {
    const scan = await rehearse(`echo a > a; ${label}`, 'echo b > a')
    expect(codes(scan)).toEqual([])
    expect(brief(scan)).toEqual(['M /a'])
  })
})

describe('findings', () => {
  it.each([
    ['a fifo', '', 'mkfifo f', ['diff.unsupported /f'], []],
    ['a fifo for a file', 'echo a > f', 'rm f; mkfifo f', ['diff.unsupported /f'], ['D /f']],
    ['a deleted fifo', 'mkfifo f', 'rm f', ['diff.unsupported /f'], []],
    [
      'a fifo in a deleted directory',
      'mkdir d; mkfifo d/f',
      'rm -r d',
      ['diff.unsupported /d/f'],
      ['D /d'],
    ],
    ['a split link', 'echo a > a; ln a b', 'echo b >> a', ['diff.link_split /a'], ['M /a']],
    [
      'a mode of one name',
      'echo a > a; ln a b; chmod 644 a',
      'chmod 600 a',
      ['diff.link_split /a'],
      ['M /a'],
    ],
    ['one name less', 'echo a > a; ln a b', 'rm a', [], ['D /a']],
    ['a touched name', 'echo a > a; ln a b', 'touch a', [], []],
    [
      'all names written apart',
      'echo a > a; ln a b',
      'echo b > a; echo b > b',
      ['diff.link_split /a', 'diff.link_split /b'],
      ['M /a', 'M /b'],
    ],
    [
      'all names linked again',
      'echo a > a; ln a b',
      'rm a b; echo b > a; ln a b',
      [],
      ['M /a', 'M /b'],
    ],
    ['a moved name', 'echo a > a; ln a b', 'mv a c', ['diff.link_split /c'], ['D /a', 'A /c']],
    [
      'a moved name and a written one',
      'echo a > a; ln a b',
      'mv a c; echo b >> b',
      ['diff.link_split /b', 'diff.link_split /c'],
      ['D /a', 'M /b', 'A /c'],
    ],
    [
      'a name that was moved and written',
      'echo a > a; ln a b',
      'mv a c; echo b >> c',
      ['diff.link_split /c'],
      ['D /a', 'A /c'],
    ],
    [
      'an empty file that was moved over another',
      // A time of reading that no later reading replaces, so that the two files differ in it.
      ': > a; ln a b; echo c > c; touch -a -d @2000000000 a',
      'mv a c',
      ['diff.link_split /c'],
      ['D /a', 'M /c'],
    ],
    [
      'both names moved',
      'echo a > a; ln a b',
      'mv a c; mv b d',
      ['diff.link_split /c', 'diff.link_split /d'],
      ['D /a', 'D /b', 'A /c', 'A /d'],
    ],
    [
      'another file of the same content and time',
      'echo a > a; ln a b; echo a > c; touch -d @1000000000 a c',
      'rm a; chmod 600 c',
      [],
      ['D /a', 'M /c'],
    ],
    ['a new file for a name', 'echo a > a; ln a b', 'rm a; echo c > c', [], ['D /a', 'A /c']],
    ['a new name', 'echo a > a', 'ln a b', ['diff.link_split /b'], ['A /b']],
    [
      'an attribute in the name of the overlay',
      'echo a > a',
      'setfattr -n user.overlay.opaque -v y a',
      ['diff.unsupported /a'],
      [],
    ],
    [
      'a real tree with such an attribute',
      'echo a > a; setfattr -n user.overlay.x -v y a',
      'echo b > a',
      ['diff.unsupported /a'],
      ['M /a'],
    ],
  ])('%s', async (_, before, script, found, want) => {
    const scan = await rehearse(before, script)
    expect(codes(scan)).toEqual(found)
    expect(brief(scan)).toEqual(want)
  })

  it('more than may be written, by apparent size, without reading it', async () => {
    const scan = await rehearse('', 'truncate -s 900G a', { maxBytes: 1 << 20 })
    expect(codes(scan)).toEqual(['diff.too_large '])
    expect(scan.changes).toEqual([])
  })

  it('more entries than one act may change, with their number and what to do', async () => {
    const scan = await rehearse('mkdir gone; touch gone/1 gone/2', 'rm -r gone; touch a b c', {
      entriesMax: 5,
    })
    expect(codes(scan)).toEqual(['diff.too_large '])
    expect(scan.findings[0]?.detail).toMatch(
      /^6 entries .* may change 5; nothing was changed\. Run/,
    )
    expect(scan.changes).toEqual([])
    const same = await rehearse('', 'rm -r gone; touch a b c', { entriesMax: 6 })
    expect(codes(same)).toEqual([])
    expect(same.changes.length).toBe(6)
  })

  it('more text in attributes than one act may change', async () => {
    const script = 'for i in 1 2 3; do touch $i; setfattr -n user.note -v 0123456789 $i; done'
    const scan = await rehearse('', script, { attributeTextMax: 80 })
    expect(codes(scan)).toEqual(['diff.too_large '])
    expect(scan.findings[0]?.detail).toMatch(
      /attributes .* hold more than 1 MB .* nothing was changed/,
    )
    expect(scan.changes).toEqual([])
    expect(codes(await rehearse('', script, { attributeTextMax: 100 }))).toEqual([])
  })

  it('counts a linked file once', async () => {
    const scan = await rehearse('', 'truncate -s 1M a; ln a b; ln a c', { maxBytes: 1 << 20 })
    expect(codes(scan)).toEqual([])
  })

  it('a path that is too long, which is not gone into', async () => {
    const scan = await rehearse(
      '',
      `perl -e 'for (1..25) { mkdir "x" x 200; chdir "x" x 200 or die } open F, ">a"'`,
    )
    const [found] = scan.findings
    expect(scan.findings).toHaveLength(1)
    expect(found?.code).toBe('diff.path_too_long')
    for (const { path } of scan.changes) expect(path.length).toBeLessThanOrEqual(PATH_BYTES_MAX)
    expect(scan.changes.length).toBeGreaterThan(15)
  })

  it('takes names that the real tree hides from overlays for no deletions', async () => {
    const hide = 'for i in $(seq 30); do mknod d/w$i c 0 0; done'
    const scan = await rehearse(`mkdir d; echo a > d/a; ${hide}`, 'echo n > d/n')
    expect(brief(scan)).toEqual(['A /d/n'])
    expect(scan.findings[0]?.code).toBe('diff.unsupported')
  })

  it('leaves out the given places, with everything below', async () => {
    const scan = await rehearse(
      'mkdir -p d/own; echo a > d/own/a; echo b > d/b',
      'rm -r d; mkdir own; echo c > own/c',
      {
        exclude: [join(root, 'd/own'), join(root, 'own')],
      },
    )
    expect(brief(scan)).toEqual(['D /d', 'D /d/b'])
  })
})

describe('others at work', () => {
  /** Makes the tree and the marker, rehearses, changes the tree as another process would, and scans. */
  async function interfere(
    before: string,
    script: string,
    other: string,
    more: Partial<ScanOptions> = {},
  ): Promise<Scan> {
    shell(before)
    const marker = mark()
    overlay = await openOverlay(root, join(folder, 'work'))
    overlay.run(script)
    shell(other)
    return scanLayers([overlay.layer], optionsFor(marker, more))
  }

  it.each([
    ['an edit of what was changed', 'echo a > a', 'echo b > a', 'echo c > a', ['/a']],
    ['an edit of what was deleted', 'echo a > a', 'rm a', 'echo c > a', ['/a']],
    [
      'an edit that leaves the bytes',
      'echo a > a',
      'echo b > a',
      'chmod 600 a; chmod 644 a',
      ['/a'],
    ],
    ['something new in a deleted directory', 'mkdir d', 'rm -r d', 'echo c > d/c', ['/d', '/d/c']],
    [
      'an edit below a deleted directory',
      'mkdir d; echo a > d/a',
      'rm -r d',
      'echo c >> d/a',
      ['/d/a'],
    ],
    [
      'something new in an emptied directory',
      'mkdir d; echo a > d/a',
      'rm -r d; mkdir d',
      'echo c > d/c',
      ['/d', '/d/c'],
    ],
    [
      'an edit in an emptied directory of what was put back',
      'mkdir d; echo a > d/a; echo b > d/b',
      'rm -r d; mkdir d; echo a > d/a',
      'chmod 600 d/a; chmod 644 d/a',
      ['/d/a'],
    ],
    [
      'something made where the run made something',
      'mkdir d',
      'echo a > d/a',
      'echo c > d/a',
      ['/d/a'],
    ],
    ['something deleted that the run deleted', 'echo a > a', 'rm a', 'rm a', ['/a']],
    ['an edit of what was not touched', 'echo a > a; echo b > b', 'echo c > b', 'echo c > a', []],
    [
      'something new where little was changed',
      'mkdir d; echo a > d/a',
      'echo b > d/a',
      'echo c > d/c',
      [],
    ],
  ])('%s', async (_, before, script, other, found) => {
    const scan = await interfere(before, script, other)
    expect(codes(scan)).toEqual(found.map((path) => `rehearsal.interfered ${path}`))
  })

  it('another directory in the place of the root', async () => {
    shell('echo a > a')
    const marker = mark()
    overlay = await openOverlay(root, join(folder, 'work'))
    renameSync(root, join(folder, 'aside'))
    mkdirSync(root)
    const scan = await scanLayers([overlay.layer], optionsFor(marker))
    expect(codes(scan)).toEqual(['rehearsal.interfered '])
  })

  it('counts the same tick only when the command began in it', async () => {
    shell('echo a > a')
    const { ctimeNs } = statSync(join(root, 'a'), { bigint: true })
    overlay = await openOverlay(root, join(folder, 'work'))
    overlay.run('echo b > a')
    const marker = { ctimeNs, madeAtMs: 1000, roots: [] }
    const at = (commandStartedAtMs: number) =>
      scanLayers([overlay?.layer as Layer], optionsFor(marker, { commandStartedAtMs }))
    expect(codes(await at(1009))).toEqual(['rehearsal.interfered /a'])
    expect(codes(await at(1010))).toEqual([])
  })
})

describe('layers', () => {
  it('reads nested ones each by itself', async () => {
    shell('mkdir in; echo a > in/a; echo b > b')
    const marker = mark()
    overlay = await openOverlay(root, join(folder, 'work'))
    const inner = await openOverlay(join(root, 'in'), join(folder, 'inner'))
    try {
      overlay.run('echo c > b')
      inner.run('echo c > a')
      const layers = [overlay.layer, inner.layer]
      expect(brief(await scanLayers(layers, optionsFor(marker)))).toEqual(['M /b', 'M /in/a'])
    } finally {
      await inner.close()
    }
  })

  it.each([
    ['no process when nothing was written', 'true', 0],
    ['at most one for any number of changes', 'for i in $(seq 300); do echo $i > f$i; done', 1],
  ])('starts %s', async (_, script, want) => {
    shell('echo a > a')
    const marker = mark()
    overlay = await openOverlay(root, join(folder, 'work'))
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 12)
    const commandStartedAtMs = Date.now()
    overlay.run(script)
    let started = 0
    const init = (_id: number, type: string) => {
      if (type === 'PROCESSWRAP') started++
    }
    const hook = createHook({ init }).enable()
    await scanLayers([overlay.layer], optionsFor(marker, { commandStartedAtMs }))
    hook.disable()
    // None where this process keeps a program that reads attributes.
    expect(started).toBeLessThanOrEqual(want)
  })
})
