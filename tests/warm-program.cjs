/**
 * The process of `warm-program.ts`: answers calls of the built program one after another. Each call
 * evaluates the program's script again, so a variable of one call is not seen by the next; what it saves
 * is the start of Node.
 *
 * Answers and requests are lines of the pipes 3 and 4. Input, output and errors are files, opened as the
 * descriptors 0, 1 and 2. After a call that left a file open, or called `process.exit`, the process ends,
 * as the program would have, and the caller starts another one.
 */
'use strict'
const crypto = require('node:crypto')
const fs = require('node:fs')
const { createRequire } = require('node:module')
const { dirname, join } = require('node:path')

const [, , program, folder] = process.argv
const BUILT = join(dirname(program), '..', 'dist', 'cli')
const FILE = join(BUILT, 'program.cjs')
const [ANSWERS, REQUESTS] = [3, 4]
const STREAMS = ['input', 'output', 'errors']
const OWNED = /^(?:socket:|\/(?!dev\/null$))/
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGTSTP', 'SIGCONT', 'SIGWINCH']

const { exit } = process
const { script } = require(program).load(BUILT)

/**
 * Remembers the keys that were derived: the same passphrase with the same salt gives the same key, and
 * a derivation takes 0.4 s of a core by design.
 */
function rememberKeys() {
  const { scrypt } = crypto
  const known = new Map()
  crypto.scrypt = (passphrase, salt, length, cost, done) => {
    const name = JSON.stringify([passphrase, Buffer.from(salt).toString('hex'), length, cost])
    const key = known.get(name)
    if (key !== undefined) return process.nextTick(done, null, Buffer.from(key))
    return scrypt(passphrase, salt, length, cost, (error, derived) => {
      if (error === null) known.set(name, Buffer.from(derived))
      done(error, derived)
    })
  }
}

/** Takes over where the call is made: the directory, the variables, the three streams. */
function enter({ cwd, env }) {
  process.chdir(cwd)
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name]
  Object.assign(process.env, env)
  process.exitCode = undefined
  for (const [descriptor, name] of STREAMS.entries()) {
    fs.closeSync(descriptor)
    // The system gives the lowest free number, which is the one that was closed.
    const opened = fs.openSync(join(folder, name), descriptor === 0 ? 'r' : 'w')
    if (opened !== descriptor) throw new Error(`descriptor ${descriptor} is in use`)
  }
  const stdin = new fs.ReadStream(null, { fd: 0, autoClose: false })
  Object.defineProperty(process, 'stdin', { configurable: true, get: () => stdin })
}

function leave() {
  for (const name of [...SIGNALS, 'exit']) process.removeAllListeners(name)
  process.stdout.removeAllListeners('error')
  process.stderr.removeAllListeners('error')
  process.chdir('/')
}

async function run(argv) {
  const module = { exports: {} }
  script.runInThisContext()(module.exports, createRequire(FILE), module, FILE, BUILT)
  return await module.exports.main(argv)
}

/** Files, directories and sockets: pipes and event queues are Node's, and a command shares none. */
function openFiles() {
  const targets = fs.readdirSync('/proc/self/fd').map(targetOf)
  return targets.filter((target) => target !== null && OWNED.test(target)).length
}

function targetOf(descriptor) {
  try {
    return fs.readlinkSync(`/proc/self/fd/${descriptor}`)
  } catch {
    // It was the descriptor of the listing itself.
    return null
  }
}

function answer(status, isLast) {
  fs.writeSync(ANSWERS, `${JSON.stringify({ status, isLast })}\n`)
}

async function call(request) {
  enter(request)
  const before = openFiles()
  process.exit = (status) => {
    answer(status ?? process.exitCode ?? 0, true)
    exit(0)
  }
  const watch = setTimeout(() => process.exit(null), request.timeoutMs)
  const secret = request.hasSecret ? fs.openSync(join(folder, 'secret'), 'r') : null
  const isSecret = (index) => secret !== null && request.argv[index - 1] === '--pass-fd'
  const status = await run(
    request.argv.map((word, index) => (isSecret(index) ? String(secret) : word)),
  )
  clearTimeout(watch)
  if (secret !== null) fs.closeSync(secret)
  leave()
  const isLast = openFiles() > before
  answer(status, isLast)
  if (isLast) exit(0)
}

/** Waits for the next request; null when the caller is gone. */
function nextRequest() {
  const chunk = Buffer.alloc(1 << 16)
  let text = ''
  while (!text.endsWith('\n')) {
    const length = fs.readSync(REQUESTS, chunk)
    if (length === 0) return null
    text += chunk.toString('latin1', 0, length)
  }
  return JSON.parse(Buffer.from(text, 'latin1').toString('utf8'))
}

async function main() {
  rememberKeys()
  for (let next = nextRequest(); next !== null; next = nextRequest()) await call(next)
  exit(0)
}

main()
