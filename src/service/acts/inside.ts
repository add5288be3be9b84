/**
 * Programs of writ's own that run inside a sandbox: untrusted files are parsed
 * there and nowhere else. The whole program and what it is asked go in on its standard input, so
 * nothing of writ has to be visible inside but the runtime itself, and no argument is too long.
 */
import { readFileSync } from 'node:fs'
import type { OperationCommand } from '../../gate/index.ts'
import { workerEntry } from '../../machine/index.ts'
import { requestLine } from './request.ts'

/** Settings of the caller must not load anything into the program. */
const ENVIRONMENT = { NODE_OPTIONS: '', NODE_PATH: '' } as const

export function insideCommand(
  program: 'config-change' | 'ui-automation',
  request: unknown,
): OperationCommand {
  const source = readFileSync(workerEntry(`service/acts/${program}.program.js`))
  return {
    argv: [process.execPath, '--input-type=module', '-'],
    cwd: '/',
    env: ENVIRONMENT,
    stdin: Buffer.concat([Buffer.from(requestLine(request)), source]),
  }
}
