#!/usr/bin/env node
/**
 * Makes SQLite usable where Node has none of its own and npm could not get the compiled part of
 * better-sqlite3: compiles it with the headers that came with Node, which needs the npm registry and
 * nothing else of the network. Does nothing where SQLite works.
 *
 * npm runs it after an install, as a convenience (`--after-install`): it then never fails an install.
 */
'use strict'
const { spawnSync } = require('node:child_process')
const { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } = require('node:fs')
const { writeFileSync } = require('node:fs')
const { createRequire } = require('node:module')
const { dirname, join } = require('node:path')

const ROOT = dirname(__dirname)
const DIST = join(ROOT, 'dist')
const LIBRARY = 'build/Release/better_sqlite3.node'
/** What a program needs of the package; its sources take ten times the room. */
const KEPT = ['package.json', 'LICENSE', 'lib', LIBRARY]
/** What npm hands to scripts about the install that started them. */
const OF_ANOTHER_INSTALL =
  /^npm_(?:package_|lifecycle_|command$|config_(?:global|prefix|local_prefix|location|omit|include|dry_run|ignore_scripts|workspace))/i

/** Returns what is missing, as a sentence; null when SQLite works afterwards. */
function install({ isQuiet }) {
  if (hasOwnSqlite() || loads()) return null
  const prefix = [process.env.npm_config_nodedir, dirname(dirname(process.execPath))].find(isNodes)
  if (prefix === undefined) {
    return `the headers of Node.js ${process.versions.node} are not in ${dirname(dirname(process.execPath))}/include/node`
  }
  mkdirSync(DIST, { recursive: true })
  const scratch = mkdtempSync(join(DIST, '.sqlite-'))
  try {
    if (!compile(scratch, prefix, isQuiet)) return 'npm could not compile better-sqlite3'
    for (const part of KEPT) {
      const from = join(scratch, 'node_modules', 'better-sqlite3', part)
      if (!existsSync(from)) return `better-sqlite3 was installed without ${part}`
      cpSync(from, join(DIST, 'node_modules', 'better-sqlite3', part), { recursive: true })
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
  return loads() ? null : 'better-sqlite3 was compiled and cannot be loaded'
}

function hasOwnSqlite() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  return major > 22 || (major === 22 && minor >= 16)
}

function loads() {
  try {
    createRequire(join(DIST, 'cli', 'program.cjs'))(`better-sqlite3/${LIBRARY}`)
    return true
  } catch {
    return false
  }
}

/** Whether the headers of the running Node are below the directory. */
function isNodes(prefix) {
  const file = join(prefix ?? '', 'include', 'node', 'node_version.h')
  if (prefix === undefined || !existsSync(file)) return false
  const text = readFileSync(file, 'utf8')
  const found = ['MAJOR', 'MINOR', 'PATCH'].map(
    (part) => new RegExp(`#define NODE_${part}_VERSION (\\d+)`).exec(text)?.[1],
  )
  return found.join('.') === process.versions.node
}

function compile(scratch, prefix, isQuiet) {
  const { optionalDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const dependencies = { 'better-sqlite3': optionalDependencies['better-sqlite3'] }
  const own = { private: true, dependencies, allowScripts: { 'better-sqlite3': true } }
  writeFileSync(join(scratch, 'package.json'), JSON.stringify(own))
  const inherited = Object.entries(process.env).filter(([name]) => !OF_ANOTHER_INSTALL.test(name))
  const args = ['install', '--no-audit', '--no-fund', '--no-package-lock', '--ignore-scripts=false']
  const [command, ...before] = npm()
  const { status } = spawnSync(command, [...before, ...args], {
    cwd: scratch,
    stdio: isQuiet ? 'ignore' : 'inherit',
    env: { ...Object.fromEntries(inherited), npm_config_nodedir: prefix },
  })
  return status === 0
}

function npm() {
  const { npm_execpath: script } = process.env
  return script !== undefined && /npm-cli\.[cm]?js$/.test(script)
    ? [process.execPath, script]
    : ['npm']
}

const isQuiet = process.argv.includes('--after-install')
let missing
try {
  missing = install({ isQuiet })
} catch (error) {
  missing = error.message
}
if (!isQuiet) console.log(missing === null ? 'SQLite works' : `SQLite does not work: ${missing}`)
process.exitCode = missing === null || isQuiet ? 0 : 1
