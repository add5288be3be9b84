/** What a plain yes would lose outside the scope. */
import { expect, it } from 'vitest'
import type { SandboxResult } from '../../contracts/index.ts'
import { losesPart } from './lost-part.ts'

function resultOf(deleted: number, ...left: readonly string[]): SandboxResult {
  const findings = left.map((path) => ({ code: 'effect.left_out', path, detail: 'create' }))
  // Only these two parts are read.
  return {
    diff: { counts: { added: 0, modified: 0, deleted } },
    findings,
  } as unknown as SandboxResult
}

it.each([
  ['nothing outside', 3, [], false],
  ['a move out of the scope', 1, ['/home/ann/archive/notes.txt'], true],
  ['a push to a repository outside', 0, ['/home/ann/bare.git/refs/heads/main'], true],
  ['settings next to other work', 0, ['/home/ann/.config/tool/state.json'], false],
  ['a move into a dot directory', 1, ['/home/ann/.archive/notes.txt'], true],
] as const)('%s', (_, deleted, left, loses) => {
  expect(losesPart(resultOf(deleted, ...left), '/home/ann')).toBe(loses)
})
