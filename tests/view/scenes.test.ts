/** Scenes of a live view (S-1, S-2, S-3, S-10, S-11, S-12), as root and as an ordinary user. */
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { programFile } from '../ledger/program.ts'
import { runAs, TEST_USERS } from '../tree/users.ts'

const SOURCE = 'tests/view/scenes.program.ts'
const NAMES = [
  ...readFileSync(SOURCE, 'utf8').matchAll(/^ {2}'(.+)':(?: async \(\) => \{)?$/gm),
].map(([, name = '']) => name)

it('has scenes', () => {
  expect(NAMES.length).toBeGreaterThan(10)
})

describe.each(TEST_USERS)('as %s', (user) => {
  it.each(NAMES)(
    '%s',
    async (scene) => {
      const watcher = pathToFileURL(
        await programFile('src/sandbox/supervision/watch.worker.ts'),
      ).href
      const ended = await runAs(user, SOURCE, { scene, watcher }, 120_000)
      expect(ended).toMatchObject({ status: 0, stderr: '' })
    },
    130_000,
  )
})
