/**
 * Programs of the machine, run one after the other by one shell that stays: a test that calls thousands
 * of them would spend most of its time on copies of its own process. Waits for each of them.
 *
 * Words and outputs have one character a byte. The shell ends with this process, however that ends.
 */
import { execFileSync, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import {
  constants,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Called {
  readonly status: number
  readonly stdout: string
  /** Empty when it ended well. */
  readonly stderr: string
}

interface Shell {
  readonly orders: number
  readonly answers: number
  /** Where inputs and complaints lie. */
  readonly input: string
  readonly errors: string
  /** The text that ends every output, and occurs in none. */
  readonly mark: string
}

let shell: Shell | null = null

/** `input` is its standard input; none without it. */
export function callTool(argv: readonly (string | Buffer)[], input?: Uint8Array): Called {
  shell ??= startShell()
  if (input !== undefined) writeFileSync(shell.input, input)
  const words = argv.map((word) => quoted(Buffer.from(word).toString('latin1'))).join(' ')
  const from = input === undefined ? '/dev/null' : shell.input
  const line = `${words} <${from} 2>${shell.errors}; printf '${shell.mark} %d\\n' $?\n`
  writeAll(shell.orders, Buffer.from(line, 'latin1'))
  const { stdout, status } = answerOf(shell)
  return { stdout, status, stderr: status === 0 ? '' : readFileSync(shell.errors, 'latin1') }
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`
}

function startShell(): Shell {
  const folder = mkdtempSync(join(tmpdir(), 'writ-tools-'))
  const at = (name: string): string => join(folder, name)
  execFileSync('mkfifo', [at('orders'), at('answers')])
  const [orders, answers] = [openSync(at('orders'), 'r+'), openSync(at('answers'), 'r+')]
  // The shell holds no write end of `orders`, so it gets end-of-file when all others are closed.
  const reading = openSync(at('orders'), constants.O_RDONLY)
  const child = spawn('sh', ['-s'], { stdio: [reading, answers, 'inherit'] })
  child.unref()
  // By the shell, since a process that is killed tidies up nothing.
  writeAll(orders, Buffer.from(`trap "rm -rf ${folder}" EXIT\n`))
  return { orders, answers, input: at('input'), errors: at('errors'), mark: randomUUID() }
}

function writeAll(file: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at)
}

const CHUNK_BYTES = 1 << 16

function answerOf({ answers, mark }: Shell): Pick<Called, 'stdout' | 'status'> {
  let text = ''
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
  for (;;) {
    text += chunk.toString('latin1', 0, readSync(answers, chunk))
    const end = text.endsWith('\n') ? text.lastIndexOf(`${mark} `) : -1
    if (end >= 0)
      return { stdout: text.slice(0, end), status: Number(text.slice(end + mark.length)) }
  }
}
