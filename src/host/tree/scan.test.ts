/** What a scan sees: each kind of change alone, on a real overlay. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Overlay, openOverlay } from '../../../tests/tree/overlay.ts'
import { treeHash } from '../../../tests/tree/tree-hash.ts'
import type { Change } from '../../gate/index.ts'
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
  const marker = mark()
  overlay = await openOverlay(root, join(folder, 'work'))
  overlay.run(script)
  const hash = treeHash(root)
  const scan = await scanLayers([overlay.layer], optionsFor(marker, more))
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

describe('findings', () => {
  it.each([
    ['a fifo', '', 'mkfifo f', ['diff.unsupported /f'], []],
    ['a fifo for a file', 'echo a > f', 'rm f; mkfifo f', ['diff.unsupported /f'], ['D /f']],
    ['a deleted fifo', 'mkfifo f', 'rm f', ['diff.unsupported /f'], []],
  ])('%s', async (_, before, script, found, want) => {
    const scan = await rehearse(before, script)
    expect(codes(scan)).toEqual(found)
    expect(brief(scan)).toEqual(want)
  })
})
