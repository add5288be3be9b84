#!/usr/bin/env node
/**
 * Starts the command line, `dist/cli/program.cjs`, or for `exec`, `run`, `session`, `serve`, `mcp`,
 * `worker`, `dispatch`, `device run` and `hook event` scripts that hold nothing else, with the code that V8
 * compiled for it when it was built. Another version of Node ignores that code and compiles the file itself.
 */
'use strict'
const { readFileSync } = require('node:fs')
const { createRequire, wrap } = require('node:module')
const { dirname, join } = require('node:path')
const { constants, Script } = require('node:vm')

const BUILT = join(__dirname, '..', 'dist', 'cli')
/** Commands with a script of their own. */
const SCRIPTS = new Map([
  ['exec', 'exec'],
  ['run', 'run'],
  ['session', 'run'],
  ['serve', 'serve'],
  ['mcp', 'serve'],
  ['hook event', 'hook'],
  ['dispatch', 'field'],
  ['device run', 'field'],
  ['worker', 'worker'],
])
const NOT_BUILT =
  'cli.not_built: the program files are missing\n  hint: run `npm run build` in the checkout\n'

/** Runs a built file. Returns its exports and the script, or null if the file is missing. */
function load(directory, name = 'program') {
  const filename = join(directory, `${name}.cjs`)
  const text = read(filename, 'latin1')
  if (text === null) return null
  const script = new Script(wrap(text), {
    filename,
    cachedData: read(`${filename}.code`) ?? undefined,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  })
  const module = { exports: {} }
  const run = script.runInThisContext()
  run(module.exports, createRequire(filename), module, filename, dirname(filename))
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
  const [, , command, word] = process.argv
  const name = SCRIPTS.get(command) ?? SCRIPTS.get(`${command} ${word}`)
  const program = load(BUILT, name ?? 'program')
  if (program === null) process.stderr.write(NOT_BUILT)
  const status = program === null ? 4 : await program.main(process.argv.slice(2))
  process.exitCode = status
  // All handles are closed; exits now instead of waiting for Node's teardown.
  if (isWritten(process.stdout) && isWritten(process.stderr)) process.exit(status)
}

function isWritten({ writableLength }) {
  return writableLength === 0
}

module.exports = { load, start }
if (require.main === module) start()
