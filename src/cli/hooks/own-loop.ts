/** Commands of this installation that loop as a process of another one. */
import { createInterface } from 'node:readline'
import { startOwn } from '../../machine/index.ts'
import { ownProgram } from './own-program.ts'

const GRACE_MS = 5_000
const TOLD_MAX = 500

/**
 * Runs a command that loops until its input ends, which it does with this process; hands over each line
 * that it prints. Fails with its last words if it ends by itself.
 */
export async function runOwnLoop(
  argv: readonly string[],
  cwd: string,
  onLine: (line: string) => void,
  stop: AbortSignal,
): Promise<void> {
  const child = startOwn(ownProgram(), argv, { cwd, env: process.env })
  for (const stream of child.stdio) stream?.on('error', () => undefined)
  if (child.stdout !== null) createInterface({ input: child.stdout }).on('line', onLine)
  let err = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    err = `${err}${chunk.toString()}`.slice(-TOLD_MAX)
  })
  const end = (): void => {
    child.kill('SIGTERM')
    setTimeout(() => child.kill('SIGKILL'), GRACE_MS).unref()
  }
  stop.addEventListener('abort', end, { once: true })
  if (stop.aborted) end()
  const status = await new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  }).finally(() => stop.removeEventListener('abort', end))
  if (!stop.aborted) throw new Error(`\`writ ${argv.join(' ')}\` ended (${status}): ${err.trim()}`)
}
