#!/usr/bin/env node
/**
 * A shell for coding agents that take the path of one (Claude Code's `CLAUDE_CODE_SHELL_PREFIX`,
 * `shell` of OpenCode, `shellPath` of pi, a `bash` that comes first on PATH): runs what it is given
 * under `writ exec`. In a session, which confines everything already, and for writ's own hooks, it
 * becomes the real bash.
 */
'use strict'
const { spawnSync } = require('node:child_process')
const { realpathSync } = require('node:fs')
const { request } = require('node:http')
const { basename, delimiter, dirname, join, resolve } = require('node:path')
const { load } = require('./writ.cjs')

const BASH = '/bin/bash'
const WRIT = join(__dirname, 'writ.cjs')
const CHANNEL_MS = 2_000

/** The program text, where the words are `-c TEXT` or, as from Claude Code, the text alone. */
function programOf(words) {
  if (words.length === 1 && !words[0].startsWith('-')) return words[0]
  const at = words.findIndex((word) => /^-[a-z]*c$/.test(word))
  return at === -1 || words.length !== at + 2 ? null : words[at + 1]
}

/** Hosts run hook commands through their shell as well. Nothing in such a text means anything to it. */
function isOwnHook(text) {
  const words = text.trim().split(' ')
  if (!/^[\w@%+=:,./ -]+$/.test(text.trim()) || words[1] !== 'hook' || words[2] !== 'event')
    return false
  try {
    return realpathSync(words[0]) === realpathSync(WRIT)
  } catch {
    return false
  }
}

/** A variable alone proves no session: its channel has to answer. */
function isInSession() {
  const channel = process.env.WRIT_SESSION_CHANNEL ?? ''
  if (!/^http:\/\/(?:127\.0\.0\.1|\[::1\]):\d+\/./.test(channel)) return Promise.resolve(false)
  return new Promise((done) => {
    const asked = request(`${channel}/ping`, { timeout: CHANNEL_MS }, (response) => {
      response.resume()
      done(response.statusCode === 200)
    })
    asked.on('timeout', () => asked.destroy())
    asked.on('error', () => done(false))
    asked.end()
  })
}

/** Without the directory in which this program is called `bash`. */
function plainPath() {
  const own = basename(process.argv[1]) === 'bash' ? dirname(resolve(process.argv[1])) : null
  return (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => folder !== own)
    .join(delimiter)
}

async function main() {
  const words = process.argv.slice(2)
  process.env.PATH = plainPath()
  const text = programOf(words)
  if ((text !== null && isOwnHook(text)) || (await isInSession())) {
    const own = text === null ? words : ['-c', text]
    const { status, signal } = spawnSync(BASH, own, { stdio: 'inherit' })
    process.exit(status ?? (signal === null ? 126 : 143))
  }
  process.argv = [process.argv[0], WRIT, 'exec']
  const program = load(join(__dirname, '..', 'dist', 'cli'), 'exec')
  if (program === null) process.exit(126)
  const order = text === null ? ['--', BASH, ...words] : ['--shell', text]
  process.exit(await program.main(['exec', '--quiet', ...order]))
}

main()
