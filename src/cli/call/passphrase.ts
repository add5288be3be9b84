/**
 * Reads a passphrase: from the file descriptor that `--pass-fd` names, or from the terminal without
 * showing it. Never from the environment or the arguments, which other processes can read.
 */
import { readFileSync } from 'node:fs'
import { isatty } from 'node:tty'
import { faultError, showName } from '../../base/index.ts'
import { isStrongPassphrase } from '../../home/index.ts'
import { type CommandCall, usageError } from './command.ts'
import { reasonOf } from './source.ts'

/** Null when there is neither a descriptor nor a terminal. */
export async function readPassphrase(call: CommandCall, question: string): Promise<string | null> {
  const descriptor = call.options.text('pass-fd')
  if (descriptor !== null) return readDescriptor(descriptor)
  return canAsk() ? askHidden(question) : null
}

export function canAsk(): boolean {
  return isatty(0) && isatty(2)
}

/** A descriptor can be read only once; `writ init --new` needs what it held twice. */
const descriptorTexts = new Map<string, string>()

function readDescriptor(text: string): string {
  const known = descriptorTexts.get(text)
  if (known !== undefined) return known
  if (!/^\d{1,5}$/.test(text)) {
    throw usageError(`${showName(text)} is not the number of a file descriptor`)
  }
  try {
    const read = readFileSync(Number(text), 'utf8').replace(/\r?\n[\s\S]*$/, '')
    descriptorTexts.set(text, read)
    return read
  } catch (thrown) {
    const reason = reasonOf(thrown)
    throw usageError(`the file descriptor ${text} cannot be read (${reason})`)
  }
}

/** The terminal does not echo: what is typed goes to a stream that forgets it. */
export async function askHidden(question: string): Promise<string> {
  const { createInterface } = await import('node:readline')
  const { Writable } = await import('node:stream')
  const output = new Writable({ write: (_chunk, _encoding, done) => done() })
  const reader = createInterface({ input: process.stdin, output, terminal: true })
  // Asks once the terminal has stopped echoing, so that a quick answer is not shown either.
  process.stderr.write(`${question}: `)
  return new Promise((resolve, reject) => {
    reader.on('SIGINT', () => reader.close())
    // Ctrl-C, Ctrl-D, or a terminal that went away; after an answer it changes nothing.
    reader.on('close', () => reject(usageError('interrupted')))
    reader.question('', (answer) => {
      process.stderr.write('\n')
      resolve(answer)
      reader.close()
    })
  })
}

/**
 * Reads a passphrase that a person chooses: strong enough, and typed twice if it is typed.
 *
 * Returns null if there is neither a descriptor nor a terminal; empty if the person typed nothing.
 */
export async function readNewPassphrase(
  call: CommandCall,
  question: string,
): Promise<string | null> {
  const passphrase = await readPassphrase(call, question)
  const isAsked = call.options.text('pass-fd') === null
  if (passphrase === null || (passphrase === '' && isAsked)) return passphrase
  if (!isStrongPassphrase(passphrase)) throw faultError('credential.weak', '')
  if (isAsked && canAsk() && (await askHidden('once more')) !== passphrase) {
    throw faultError('credential.wrong', '', 'the two are not the same')
  }
  return passphrase
}
