#!/usr/bin/env node
/**
 * Starts the command line: a built file, with the code that V8 made of it the last time it was built.
 * Another version of Node takes no notice of that code and compiles the file anew.
 *
 * Says how to build what is missing.
 */
'use strict'
const { readFileSync } = require('node:fs')
const { createRequire } = require('node:module')
const { join } = require('node:path')
const { pathToFileURL } = require('node:url')
const { constants, Script } = require('node:vm')

const BUILT = join(__dirname, '..', 'dist', 'cli')
const NOT_BUILT =
  'cli.not_built: the program files are missing\n  hint: run `npm run build` in the checkout\n'

/** By the file they were made of: what has run in this process. */
const scripts = new Map()

/** What a built file exports; null when there is none. Some leave a part to a second file. */
function load(directory, name = 'program', shelf = null) {
  const filename = join(directory, `${name}.cjs`)
  // The file has nothing but ASCII in it, which is read fastest as this.
  const text = read(filename, 'latin1')
  if (text === null) return null
  const cachedData = read(`${filename}.code`) ?? undefined
  // Packages that are seldom needed are imported when they are.
  const importModuleDynamically = constants.USE_MAIN_CONTEXT_DEFAULT_LOADER
  const script = new Script(text, { filename, cachedData, importModuleDynamically })
  scripts.set(filename, script)
  const module = { exports: {} }
  const second = (part) => load(directory, part, module.exports.shelf)
  const url = pathToFileURL(filename).href
  const require = createRequire(filename)
  script.runInThisContext()(module, module.exports, require, url, shelf, second)
  return module.exports
}

function read(file, encoding) {
  try {
    return readFileSync(file, encoding)
  } catch (error) {
    if (error.code === 'ENOENT') return null
    throw error
  }
}

async function start() {
  const argv = process.argv.slice(2)
  // The command that people wait for has a file of its own.
  const program = load(BUILT, argv[0] === 'exec' ? 'exec' : 'program')
  if (program === null) process.stderr.write(NOT_BUILT)
  const status = program === null ? 4 : await program.main(argv)
  process.exitCode = status
  // Everything is closed; what is left is to take the program apart, for which nobody need wait.
  if (isWritten(process.stdout) && isWritten(process.stderr)) process.exit(status)
}

function isWritten({ writableLength }) {
  return writableLength === 0
}

module.exports = { load, scripts, start }
if (require.main === module) start()
