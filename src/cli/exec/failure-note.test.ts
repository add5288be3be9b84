/** The note about what cannot be done inside a run: when it is given, and what it says. */
import { expect, it } from 'vitest'
import type { GateAnswer } from '../../service/index.ts'
import { FailureNote } from './failure-note.ts'

/** Of a result only the exit is looked at. */
const ended = (exit_code: number) => ({ execution: { exit_code } }) as GateAnswer['result']

function noteAfter(...pieces: readonly string[]): FailureNote {
  const note = new FailureNote()
  for (const piece of pieces) note.take(Buffer.from(piece))
  return note
}

it('is given for a command that failed and said so, in pieces of any size', () => {
  const git = noteAfter("fatal: renaming 'dd' failed: Invalid cross-de", 'vice link\n')
  expect(git.text(ended(128))).toContain('hidden from the run')
  const node = noteAfter('x'.repeat(100), 'Error: EXDEV: cross-device link not permitted')
  expect(node.text(ended(1))).toContain('could not rename a directory')
})

it('names the option for a clone that cannot link', () => {
  const git = noteAfter('fatal: hardlink different from sou', "rce at 'cl/.git/objects/aa/ff74'\n")
  expect(git.text(ended(128))).toContain('git clone --no-hardlinks')
})

it('is not given for one that went well, or said nothing, or never ran', () => {
  expect(noteAfter('EXDEV').text(ended(0))).toBe(null)
  expect(noteAfter('some other error').text(ended(1))).toBe(null)
  expect(noteAfter('EXDEV').text(null)).toBe(null)
})
