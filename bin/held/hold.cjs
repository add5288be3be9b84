/**
 * Hands a command over to the session that it runs in, which holds it until a person has answered (S-15):
 * `node hold.cjs PROGRAM NAME ARGUMENTS…`, where PROGRAM is the real one, or empty. Runs inside a session,
 * with the rights of the agent: what it hands over is judged outside.
 */
'use strict'
const { spawnSync } = require('node:child_process')
const { mkdtempSync, readFileSync, readdirSync, statSync } = require('node:fs')
const http = require('node:http')
const { tmpdir } = require('node:os')
const { basename, join, resolve } = require('node:path')

const [, , program, name, ...words] = process.argv
const INPUT_BYTES_MAX = 64 * 1024 * 1024
/** Options of `gh release` without a value, so that a file may follow them. */
const ALONE =
  /^--?(?:d|draft|p|prerelease|generate-notes|latest|verify-tag|clobber|notes-from-tag|fail-on-no-commits)$/

function fail(text) {
  process.stderr.write(`writ: ${text}\n`)
  process.exit(1)
}

/** Runs the real program instead. */
function runReal() {
  if (program === '') fail(`${name} is not installed in the session`)
  const { status } = spawnSync(program, words, { stdio: 'inherit' })
  process.exit(status ?? 1)
}

function read(file) {
  const bytes = readFileSync(file)
  if (bytes.length > INPUT_BYTES_MAX) fail(`${file} is longer than 64 MB`)
  return bytes
}

/** `npm publish`: packs here, with the scripts of the package, and hands over what was packed. */
function publishing() {
  const options = []
  let target = '.'
  const rest = words.slice(1)
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const [, option, value] = /^--(tag|access|registry)(?:=(.*))?$/.exec(word) ?? []
    if (word === '--dry-run') runReal()
    if (option !== undefined) options.push(`--${option}=${value ?? rest.shift() ?? ''}`)
    else if (word.startsWith('-'))
      fail(`npm publish in a session takes --tag, --access, --registry and --dry-run, not ${word}`)
    else target = word
  }
  const place = resolve(target)
  const found = statSync(place, { throwIfNoEntry: false })
  if (found === undefined) fail(`there is no ${target} to publish`)
  const file = found.isFile() ? place : pack(place)
  return {
    argv: ['publish', { input: 0 }, ...options],
    inputs: [input(basename(file), read(file))],
  }
}

function pack(folder) {
  const stdio = ['ignore', 'inherit', 'inherit']
  const before = spawnSync(program, ['run', 'prepublishOnly', '--if-present'], {
    cwd: folder,
    stdio,
  })
  if (before.status !== 0) process.exit(before.status ?? 1)
  const out = mkdtempSync(join(tmpdir(), 'publish-'))
  const packed = spawnSync(program, ['pack', '--pack-destination', out], { cwd: folder, stdio })
  const [file] = packed.status === 0 ? readdirSync(out) : []
  if (file === undefined) process.exit(packed.status ?? 1)
  return join(out, file)
}

function input(label, bytes) {
  return { name: label, base64: bytes.toString('base64') }
}

/** A call of gh: words as they are, but files are handed over with them. */
function calling() {
  const [kind, action] = words
  const inputs = []
  const take = (file) => {
    inputs.push(
      input(file === '-' ? 'standard input' : basename(file), read(file === '-' ? 0 : file)),
    )
    return inputs.length - 1
  }
  const argv = words.map((word, at) => {
    const last = words[at - 1] ?? ''
    const isApi = kind === 'api' || kind === 'workflow'
    const fileOption = isApi ? /^--input$/ : /^(?:-F|--body-file|--notes-file)$/
    const joined = isApi ? /^(--input=)(.+)$/ : /^(--(?:body|notes)-file=)(.+)$/
    if (at > 1 && fileOption.test(last)) return { input: take(word) }
    const [, option, file] = joined.exec(word) ?? []
    if (file !== undefined) return { before: option, input: take(file) }
    const [, field, value] = /^((?:--field=)?[^=@]+=@)(.+)$/.exec(word) ?? []
    if (isApi && value !== undefined && (word.startsWith('--') || /^(?:-F|--field)$/.test(last)))
      return { before: field, input: take(value) }
    const isGist = kind === 'gist' && at > 1 && !/^(?:-d|--desc|-f|--filename)$/.test(last)
    if (isGist && (word === '-' || (!word.startsWith('-') && isFile(word))))
      return { input: take(word) }
    const isAsset = kind === 'release' && /^(?:create|upload)$/.test(action) && at > 2
    const [, asset, label = ''] = /^([^#]+)(#.*)?$/.exec(word) ?? []
    const isFree = !last.startsWith('-') || ALONE.test(last) || last.includes('=')
    if (isAsset && isFree && !word.startsWith('-') && isFile(asset))
      return { input: take(asset), after: label }
    return word
  })
  return { argv, inputs }
}

function isFile(file) {
  return statSync(file, { throwIfNoEntry: false })?.isFile() === true
}

function send(order) {
  const channel = process.env.WRIT_SESSION_CHANNEL
  if (channel === undefined) fail('this is no session of writ')
  const body = JSON.stringify({ program: name, ...order })
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  const asked = http.request(
    `${channel}/command/${name}`,
    { method: 'POST', headers },
    (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (piece) => {
        text += piece
        const lines = text.split('\n')
        text = lines.pop()
        for (const line of lines) hear(JSON.parse(line))
      })
      answer.on('end', () => fail('the session ended before an answer came'))
    },
  )
  asked.on('error', (error) => fail(`the session cannot be reached: ${error.message}`))
  asked.end(body)
}

function hear({ says, output, status, isOwn }) {
  // Nothing that a person is asked about.
  if (isOwn === true) runReal()
  if (says !== undefined) process.stderr.write(`writ: ${says}\n`)
  if (output !== undefined) process.stdout.write(output)
  if (status !== undefined) process.exit(status)
}

send(name === 'npm' ? publishing() : calling())
