#!/usr/bin/env node
/**
 * Starts the command line: one built file, with the code that V8 made of it the last time it was built.
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

/** What the built file exports, and its script; null when there is none. */
function load(directory) {
  const filename = join(directory, 'program.cjs')
  // The file has nothing but ASCII in it, which is read fastest as this.
  const text = read(filename, 'latin1')
  if (text === null) return null
  const cachedData = read(`${filename}.code`) ?? undefined
  // Packages that are seldom needed are imported when they are.
  const importModuleDynamically = constants.USE_MAIN_CONTEXT_DEFAULT_LOADER
  const script = new Script(text, { filename, cachedData, importModuleDynamically })
  const module = { exports: {} }
  const url = pathToFileURL(filename).href
  script.runInThisContext()(module, module.exports, createRequire(filename), url)
  return { ...module.exports, script }
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
  const program = load(BUILT)
  if (program === null) process.stderr.write(NOT_BUILT)
  process.exitCode = program === null ? 4 : await program.main(process.argv.slice(2))
}

module.exports = { load, start }
if (require.main === module) start()
