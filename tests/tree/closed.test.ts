/** Entries that only root may read, seen by an ordinary user. */
import { expect, it } from 'vitest'
import { digestBytes } from '../../src/base/index.ts'
import { runAs, TEST_USERS } from './users.ts'

const user = TEST_USERS.at(-1) ?? 'self'

async function scan(before: string, script: string): Promise<unknown> {
  const ended = await runAs(user, 'tests/tree/closed.program.ts', { before, script }, 60_000)
  expect(ended.stderr).toBe('')
  return JSON.parse(ended.stdout)
}

it('reads closed entries of the upper layer, and closes them again', async () => {
  const script = 'printf a > a; mkdir -p d/e; printf b > d/e/b; chmod 000 a d/e/b d/e d'
  const [a, b] = [digestBytes('a'), digestBytes('b')]
  expect(await scan('', script)).toMatchObject({
    seen: [
      ['/a', 0, 0, a],
      ['/d', 0, 0, null],
      ['/d/e', 0, null, null],
      ['/d/e/b', 0, null, b],
    ],
    found: [],
  })
})

it('closes directories that are in both trees again, for those inside too', async () => {
  const before = 'mkdir -p d/e; printf b > d/e/b; printf c > d/e/c'
  const script = 'printf x > d/e/b; chmod 000 d/e d'
  expect(await scan(before, script)).toMatchObject({
    seen: [
      ['/d', 0, 0, null],
      ['/d/e', 0, null, null],
      ['/d/e/b', 0o644, null, digestBytes('x')],
    ],
    found: [],
  })
})

it('tells what of the real tree it could not read', async () => {
  const before = 'mkdir d; printf b > d/b; printf f > f; chmod 000 d f'
  const script = 'chmod 700 d; printf n > d/n; rm f'
  expect(await scan(before, script)).toMatchObject({
    found: ['diff.unsupported /d', 'diff.unsupported /d/n', 'diff.unsupported /f'],
  })
})

it('two names of a linked file have one mode, whichever of them it was given to', async () => {
  const before = 'printf r > real'
  const script = [
    'mkdir d e; printf a > d/a; ln d/a e/b; chmod 000 d/a',
    // The overlay goes on to refuse the reading of the second name.
    'ln real new; chmod 200 new; chmod 640 real',
  ].join('\n')
  const [a, r] = [digestBytes('a'), digestBytes('r')]
  expect(await scan(before, script)).toMatchObject({
    seen: [
      ['/d', 0o755, 0o755, null],
      ['/d/a', 0, 0, a],
      ['/e', 0o755, 0o755, null],
      ['/e/b', 0, 0, a],
      ['/new', 0o640, 0o640, r],
      ['/real', 0o640, 0o640, r],
    ],
    found: [],
    listed: [0o755, 0, 0o755, 0, 0o640, 0o640],
  })
})
