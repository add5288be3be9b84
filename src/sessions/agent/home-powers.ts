/**
 * Parts of every private home that may run code or configure a program, whichever agent it belongs to:
 * all that is new counts unless it is known to be harmless, because no list names every program that
 * reads a file of its user.
 */
import { randomUUID } from 'node:crypto'
import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { digestBytes } from '../../base/index.ts'
import { FILES_MAX, type FoundFile, filesBelow } from './files-below.ts'
import { isAmong, parsedGlobs } from './home-globs.ts'

/** Records of what was typed or seen, and caches whose contents their programs verify by digests. */
const HARMLESS = parsedGlobs([
  '.*_history',
  '.lesshst',
  '.viminfo',
  '.wget-hsts',
  '.sudo_as_admin_successful',
  '.npm/_cacache/**',
  '.npm/_locks/**',
  '.npm/_logs/**',
  '.npm/_update-notifier-last-checked',
  '.cache/pip/http/**',
  '.cache/pip/http-v2/**',
  '.cache/pip/selfcheck/**',
  '.cache/fontconfig/**',
  '.cache/mesa_shader_cache*/**',
  '.cargo/registry/cache/**',
  '.cargo/registry/index/**',
  '.cargo/.package-cache*',
  '.cargo/.global-cache',
  '.local/share/recently-used.xbel',
])
/** Downloads of Go, which it compares with `go.sum`; what they unpack to may hold programs as packages do. */
const GO_MODULES = 'go/pkg/mod/'
const PACKAGES = /(?:^|\/)node_modules\//
const DOT_NAME = /(?:^|\/)\./
const EXECUTABLE = 0o111

/**
 * Digests by path in the home. `places` are what the adapter of the agent says that it writes for itself;
 * the adapter names the powers among them. Links are not followed: one on the way to a place counts itself.
 */
export function homePowers(
  home: string,
  places: readonly string[],
): Readonly<Record<string, string>> {
  const found: Record<string, string> = {}
  let count = 0
  for (const file of filesBelow(home)) {
    // Never the same, so that it is asked about each time.
    if (++count === FILES_MAX) found['(too many files to compare)'] = randomUUID()
    if (places.some((place) => isOf(file.path, place)) || !isPower(home, file)) continue
    const { path } = file
    const bytes = path === '.gitconfig' && !file.isLink ? gitPowers(file.bytes()) : file.bytes()
    if (bytes !== null) found[path] = digestBytes(bytes)
  }
  return found
}

/** A place that ends with a slash is a directory. */
function isOf(path: string, place: string): boolean {
  return place.endsWith('/') ? path.startsWith(place) : path === place
}

function isPower(home: string, { path, isLink }: FoundFile): boolean {
  // A directory of the PATH can be any; a link may lead to what runs or is read.
  if (isLink || isExecutable(join(home, path))) return !path.startsWith(GO_MODULES)
  if (isAmong(HARMLESS, path)) return false
  return DOT_NAME.test(path) || PACKAGES.test(path)
}

function isExecutable(file: string): boolean {
  const stats = lstatSync(file, { throwIfNoEntry: false })
  return stats !== undefined && (stats.mode & EXECUTABLE) !== 0
}

const HARMLESS_SECTION = /^\s*\[(user|color|advice)\]\s*$/i
const SECTION = /^\s*\[/
/** One whole line that neither continues nor quotes. */
const PLAIN_LINE = /^\s*[A-Za-z][A-Za-z0-9-]*\s*=[^\\"]*$/
const EMPTY_LINE = /^\s*(?:[#;].*)?$/

/** The lines of git's configuration that may run something; null for none. */
function gitPowers(bytes: Uint8Array): Uint8Array | null {
  const text = Buffer.from(bytes).toString('latin1')
  const kept: string[] = []
  let isHarmless = false
  for (const line of text.split('\n')) {
    if (EMPTY_LINE.test(line) && !line.endsWith('\\')) continue
    if (SECTION.test(line)) isHarmless = HARMLESS_SECTION.test(line)
    else if (isHarmless && PLAIN_LINE.test(line)) continue
    if (!(isHarmless && SECTION.test(line))) kept.push(line.trim())
  }
  return kept.length === 0 ? null : Buffer.from(kept.join('\n'), 'latin1')
}
