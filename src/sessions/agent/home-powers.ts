/**
 * Parts of every private home that run code by themselves, whichever agent it belongs to: start files of
 * shells, settings of git and of package managers, directories of programs.
 */
import { randomUUID } from 'node:crypto'
import { lstatSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { digestBytes } from '../../base/index.ts'
import { DEFAULT_LISTS } from '../../gate/index.ts'
import { namesIfThere } from '../../machine/index.ts'
import { FILES_MAX, filesBelow } from './files-below.ts'

/** In addition to those that the lists of deferred paths name for shells and logins. */
const OWN_PLACES = [
  '.gitconfig',
  '.config/git',
  'bin',
  '.local/bin',
  '.npmrc',
  '.yarnrc',
  '.yarnrc.yml',
  '.config/pip',
  '.pip',
  '.pydistutils.cfg',
  '.pythonrc',
  '.pythonrc.py',
  '.pythonstartup',
  '.pythonstartup.py',
  '.ipython/profile_default/startup',
  '.bundle/config',
  '.gemrc',
  '.irbrc',
  '.Rprofile',
  '.perldb',
  '.cargo/config',
  '.cargo/config.toml',
  '.cargo/bin',
  '.gradle/init.d',
  '.gradle/init.gradle',
  '.m2/settings.xml',
  '.mavenrc',
  '.gdbinit',
  '.lldbinit',
  '.vimrc',
  '.vim',
  '.config/nvim',
  '.exrc',
  '.emacs',
  '.emacs.d',
  '.curlrc',
  '.wgetrc',
  '.tmux.conf',
  '.screenrc',
  '.makerc',
]

/** User packages of Python, of which two kinds of files run at each start. */
const PYTHON = '.local/lib'
const PYTHON_STARTS = /(?:\.pth|\/(?:user|site)customize\.py)$/

const KINDS = new Set(['shell', 'session'])

/** Names below a home from the lists of deferred paths; what can lie anywhere counts at its top. */
function listedPlaces(): readonly string[] {
  const rows = DEFAULT_LISTS.deferred.filter(({ kind }) => KINDS.has(kind))
  return rows.flatMap(({ patterns }) =>
    patterns.flatMap((pattern) => {
      const [, name] = /^(?:~|\*\*)\/([^*]+?)(?:\/\*\*)?$/.exec(pattern) ?? []
      return name === undefined ? [] : [name]
    }),
  )
}

/** Digests by path in the home. Links are not followed: one on the way to a place counts itself. */
export function homePowers(home: string): Readonly<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const place of [...OWN_PLACES, ...listedPlaces()]) addPlace(home, place, found)
  for (const version of namesIfThere(join(home, PYTHON))) {
    const place = `${PYTHON}/${version}/site-packages`
    addPlace(home, place, found, (path) => PYTHON_STARTS.test(`/${path}`))
  }
  return found
}

function addPlace(
  home: string,
  place: string,
  found: Record<string, string>,
  isPower: (path: string) => boolean = () => true,
): void {
  const names = place.split('/')
  for (let count = 1; count <= names.length; count++) {
    const path = names.slice(0, count).join('/')
    const at = join(home, path)
    const entry = lstatSync(at, { throwIfNoEntry: false })
    if (entry === undefined) return
    if (entry.isSymbolicLink()) {
      found[path] = digestBytes(readlinkSync(at, 'buffer'))
      return
    }
    if (entry.isFile()) {
      const bytes = path === '.gitconfig' ? gitPowers(readFileSync(at, 'latin1')) : readFileSync(at)
      if (bytes !== null) found[path] = digestBytes(bytes)
      return
    }
    if (!entry.isDirectory()) return
  }
  let count = 0
  for (const { path, bytes } of filesBelow(join(home, place))) {
    if (isPower(path)) found[`${place}/${path}`] = digestBytes(bytes())
    // Never the same, so that it is asked about each time.
    if (++count === FILES_MAX) found[`${place} (too many files to compare)`] = randomUUID()
  }
}

const HARMLESS_SECTION = /^\s*\[(user|color|advice)\]\s*$/i
const SECTION = /^\s*\[/
/** One whole line that neither continues nor quotes. */
const PLAIN_LINE = /^\s*[A-Za-z][A-Za-z0-9-]*\s*=[^\\"]*$/
const EMPTY_LINE = /^\s*(?:[#;].*)?$/

/** The lines of git's configuration that may run something; null for none. */
function gitPowers(text: string): Uint8Array | null {
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
