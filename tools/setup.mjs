/**
 * Sets a checkout up: npm packages, Debian packages, built program files. Standard library only,
 * since it runs before anything is installed. Each step looks first and is quick when nothing is
 * missing.
 */
import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, readFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))

/** Programs that writ needs, the Debian package that brings each, and what it is for. */
const DEBIAN = [
  { command: 'g++', debian: 'g++', why: 'compiles the SQLite binding' },
  { command: 'make', debian: 'make', why: 'compiles the SQLite binding' },
  { command: 'python3', debian: 'python3', why: 'compiles the SQLite binding' },
  { command: 'bwrap', debian: 'bubblewrap', why: 'isolates rehearsals' },
  { command: 'getfattr', debian: 'attr', why: 'reads attributes of files' },
]

/** What only tests need: a browser for acts on user interfaces, and the everyday tools they run. */
export const FOR_TESTS = [
  { command: 'git', debian: 'git', why: 'is rehearsed by the tests' },
  { command: 'curl', debian: 'curl', why: 'is a client in the tests of the network' },
  { command: 'openssl', debian: 'openssl', why: 'makes certificates for the tests of the network' },
  { command: 'strace', debian: 'strace', why: 'shows the order of sync calls to the tests' },
  { command: 'mosquitto', debian: 'mosquitto', why: 'is the broker in the tests of devices' },
  { command: 'chromium', debian: 'chromium', why: 'is driven by the tests of user interfaces' },
]

/** Prepares the checkout; ends the process with a clear line when it cannot. */
export async function prepare() {
  requireNode()
  installDebianPackages(DEBIAN)
  installNpmPackages()
  const { build } = await import('./build.mjs')
  await build()
}

export function run(command, args, options = {}) {
  return spawnSync(command, args, { cwd: ROOT, stdio: 'inherit', ...options })
}

export function stop(line) {
  console.error(`writ: ${line}`)
  process.exit(4)
}

function requireNode() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major > 20 || (major === 20 && minor >= 19)) return
  stop(`Node.js 20.19 or newer is needed, this is ${process.versions.node}`)
}

function installNpmPackages() {
  if (npmPackagesAreCurrent()) return
  console.error('writ: installing npm packages')
  // Not `npm ci`: it wants the binaries of every platform in the lock, and some registries have only
  // those of their own. `--no-save` keeps to the locked versions and writes nothing back.
  const { status } = run('npm', [
    'install',
    '--no-save',
    '--no-fund',
    '--no-audit',
    '--loglevel=error',
  ])
  if (status !== 0)
    stop('npm packages could not be installed; run `npm install` and see what it says')
}

/** npm leaves a copy of the lock of what it installed; equal versions mean nothing is to do. */
function npmPackagesAreCurrent() {
  const installed = join(ROOT, 'node_modules', '.package-lock.json')
  if (!existsSync(installed)) return false
  const wanted = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')).packages
  const present = JSON.parse(readFileSync(installed, 'utf8')).packages
  return Object.entries(wanted).every(
    ([path, { version, optional }]) =>
      path === '' ||
      present[path]?.version === version ||
      (optional && present[path] === undefined),
  )
}

export function installDebianPackages(programs) {
  const missing = programs.filter(({ command }) => !isOnPath(command))
  if (missing.length === 0) return
  const packages = [...new Set(missing.map(({ debian }) => debian))]
  const install = `apt-get install -y ${packages.join(' ')}`
  const wanted = missing.map(({ command, why }) => `${command} (${why})`).join(', ')
  if (process.getuid?.() !== 0 || !isOnPath('apt-get')) {
    stop(`missing: ${wanted}. Install with: sudo ${install}`)
  }
  console.error(`writ: installing Debian packages: ${packages.join(' ')}`)
  const quiet = {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  }
  run('apt-get', ['update', '-q'], quiet)
  const { status } = run(
    'apt-get',
    ['install', '-y', '-q', '--no-install-recommends', ...packages],
    quiet,
  )
  if (status !== 0) stop(`could not install ${wanted}. Try: ${install}`)
}

export function isOnPath(command) {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, command), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}
