/**
 * Entries that their own owner may not read, seen by an ordinary user: those of the upper layer are
 * read all the same and stay as they are, those of the real tree are reported.
 */
import { spawnSync } from 'node:child_process'
import { lstatSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeMarker } from '../../src/tree/marker.ts'
import { PATH_BYTES_MAX, scanLayers } from '../../src/tree/scan.ts'
import { openOverlay } from './overlay.ts'
import { treeListing } from './tree-hash.ts'

const { before, script } = JSON.parse(process.argv[2] ?? '{}') as Record<string, string>
const folder = mkdtempSync(join(tmpdir(), 'writ-closed-'))
const root = join(folder, 'real')
mkdirSync(root)
spawnSync('sh', ['-ec', before ?? ''], { cwd: root })
const marker = makeMarker(join(folder, 'place'), 'closed', [root], Date.now)
const overlay = await openOverlay(root, join(folder, 'work'))
try {
  overlay.run(script ?? '')
  const listing = treeListing(overlay.layer.merged)
  const { changes, findings } = await scanLayers([overlay.layer], {
    marker,
    commandStartedAtMs: marker.madeAtMs + 20,
    maxBytes: 2 ** 30,
    pathBytesMax: PATH_BYTES_MAX,
    scopeRoots: [root],
    isRoot: false,
    exclude: [],
  })
  const seen = changes.map(({ path, after }) => {
    const upper = `${overlay.layer.upper}${path.slice(root.length)}`
    const now = after === null ? null : tryMode(upper)
    return [path.slice(root.length), after?.mode ?? null, now, after?.digest ?? null]
  })
  const found = findings.map(({ code, path }) => `${code} ${path.slice(root.length)}`)
  const listed = changes.map(({ path }) => modeIn(listing.get(path.slice(root.length + 1))))
  process.stdout.write(JSON.stringify({ seen, found, listed }))
} finally {
  await overlay.close()
  spawnSync('chmod', ['-R', 'u+rwx', folder])
  rmSync(folder, { recursive: true, force: true })
}

/** Null when the way to it is closed again. */
function tryMode(path: string): number | null {
  try {
    return lstatSync(path).mode & 0o7777
  } catch {
    return null
  }
}

/** As the listing of a full walk says it. */
function modeIn(line: string | undefined): number | null {
  return line === undefined ? null : Number.parseInt(line.split(' | ')[1] ?? '', 8)
}
