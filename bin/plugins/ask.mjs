/**
 * Asks the hook program of writ about one event of a host: a report in, an answer out, as JSON. With
 * `isStrict` (wrapping) a failure throws, which blocks the call. Otherwise (in a session, which
 * confines the call anyway) a failure passes the call.
 */
import { spawn } from 'node:child_process'

const LIMIT_MS = 60_000

export function asker([program, ...words], isStrict) {
  return async (report) => {
    try {
      return await ask(program, words, report)
    } catch (error) {
      if (isStrict) throw new Error(`writ: the hook failed: ${error.message}`)
      return { kind: 'pass' }
    }
  }
}

function ask(program, words, report) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, words, { stdio: ['pipe', 'pipe', 'pipe'] })
    const timer = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS)
    let out = ''
    let err = ''
    child.stdout.on('data', (piece) => {
      out += piece
    })
    child.stderr.on('data', (piece) => {
      err += piece
    })
    // A program that ends early does not read its input; its status says why.
    child.stdin.on('error', () => {})
    child.on('error', (error) => {
      clearTimeout(timer)
      reject(error)
    })
    child.on('close', (status) => {
      clearTimeout(timer)
      if (status !== 0) return reject(new Error(err.trim() || `it ended with ${status}`))
      try {
        resolve(JSON.parse(out))
      } catch (error) {
        reject(error)
      }
    })
    child.stdin.end(JSON.stringify(report))
  })
}
