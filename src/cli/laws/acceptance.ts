/**
 * A person accepts laws: sees what they change, then says yes. The digest of the bytes that were shown
 * is the one that is registered, so a file that changes meanwhile is not accepted with them.
 */
import { existsSync } from 'node:fs'
import { type Digest, digestBytes, faultError } from '../../base/index.ts'
import {
  bareLaws,
  LAYERED,
  type LawDifference,
  type LawSet,
  lawDifferences,
} from '../../policy/index.ts'
import type { CommandCall } from '../call/command.ts'
import { canAsk } from '../call/passphrase.ts'
import { readSource } from '../call/source.ts'
import type { Paint } from '../call/terminal.ts'
import { visible, visibleName } from '../effects/visible.ts'
import { askLine } from '../gate/answer-line.ts'
import { usableLaws } from './law-file.ts'

/** A law file as it was read once. */
export interface ReadLaws {
  readonly file: string
  readonly digest: Digest
  readonly laws: LawSet
}

/** Refuses a file with a fault; a home without a file has the default laws. */
export async function lawsToAccept(file: string): Promise<ReadLaws> {
  if (!existsSync(file)) return { file, digest: digestBytes(''), laws: bareLaws(LAYERED) }
  const { bytes } = await readSource(file)
  return { file, digest: digestBytes(bytes), laws: await usableLaws(file, bytes) }
}

/** Shows what the laws change and asks; true without a question where they change nothing. */
export async function agreesToLaws(
  call: CommandCall,
  before: LawSet | null,
  { file, laws }: ReadLaws,
): Promise<boolean> {
  const changes = lawDifferences(before ?? bareLaws(LAYERED), laws)
  if (changes.length === 0) return true
  const than = before === null ? 'the default laws' : 'the laws in force'
  const heading = existsSync(file)
    ? `${visibleName(file)} differs from ${than}:`
    : `${visibleName(file)} is gone. Accepting that leaves the default laws alone in force, which changes:`
  const { terminal, options } = call
  const lines = changes.map((change) => differenceLine(change, terminal.paintError))
  terminal.err(`${[heading, ...lines].join('\n')}\n`)
  if (options.isOn('yes')) return true
  if (canAsk() && !options.isOn('json')) return askYes()
  const message = 'there is no terminal to ask at, and no `--yes`, so these laws were not accepted'
  const hint = 'read the changes above; to accept them: `writ laws accept --yes`'
  throw faultError('confirm.not_given', file, message, hint)
}

async function askYes(): Promise<boolean> {
  const line = await askLine('Accept these laws? [y/N] ')
  return typeof line === 'object' && /^y(?:es)?$/i.test(line.text.trim())
}

function differenceLine({ kind, name, before, after }: LawDifference, paint: Paint): string {
  const painted = { removed: paint.bad, changed: paint.accent, added: paint.good }[kind]
  const old = before === null || kind === 'removed' ? [] : [`    before  ${visible(before)}`]
  const now = after === null ? [] : [`    now     ${visible(after)}`]
  const words = [...old, ...now]
  return [`  ${painted(kind)}  ${visible(name)}`, ...words].join('\n')
}
