/**
 * Prints the real version of a file that the session and others changed (S-10): `node real.cjs PATH`. Runs
 * inside a session; the session serves files in conflict only.
 */
'use strict'
const http = require('node:http')
const { resolve } = require('node:path')

const [, , path] = process.argv
const channel = process.env.WRIT_SESSION_CHANNEL

function fail(text) {
  process.stderr.write(`writ: ${text}\n`)
  process.exitCode = 1
}

if (path === undefined) fail('name the file: writ-real PATH')
else if (channel === undefined) fail('this is no session of writ')
else {
  const address = `${channel}/real/${encodeURIComponent(resolve(path))}`
  const asked = http.get(address, (answer) => {
    if (answer.statusCode === 200) return void answer.pipe(process.stdout)
    let text = ''
    answer.setEncoding('utf8').on('data', (piece) => {
      text += piece
    })
    answer.on('end', () => fail(JSON.parse(text).error.message.replace(/^writ: /, '')))
  })
  asked.on('error', (error) => fail(`the session cannot be reached: ${error.message}`))
}
