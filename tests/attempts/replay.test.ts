/** Decisions about attempts are computed again from the ledger alone, for every way they ended (L-9). */
import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { Ground, type StepOrder } from './steps.ts'

beforeAll(() => {
  execFileSync(process.execPath, ['tools/build.mjs'])
}, 180_000)

function attempt(name: string, bases: readonly string[], command: string): readonly StepOrder[] {
  return [
    { do: 'begin', name, bases, writes: ['**', '.envrc'] },
    { do: 'run', name, command },
    { do: 'finish', name },
  ]
}

it('every decision about an attempt is found again', { timeout: 120_000 }, async () => {
  const ground = new Ground('root')
  const { project } = ground
  const operation = { type: 'FILE_WRITE', path: `${project}/o.txt`, content: 'o' }
  await ground.steps(
    ...attempt('promoted', [], 'echo 1 > a.txt'),
    ...attempt('on it', ['promoted'], 'echo 2 >> a.txt'),
    { do: 'promote', name: 'promoted' },
    { do: 'promote', name: 'on it' },
    ...attempt('dropped', [], 'echo 3 > b.txt'),
    ...attempt('void', ['dropped'], 'echo 4 >> b.txt'),
    { do: 'drop', name: 'dropped' },
    { do: 'promote', name: 'void' },
    ...attempt('asked', [], 'echo 5 > .envrc'),
    { do: 'promote', name: 'asked', answer: 'yes' },
    ...attempt('denied', [], 'echo 6 > .envrc'),
    { do: 'promote', name: 'denied', answer: 'no' },
    ...attempt('failed', [], 'echo 7 > c.txt; exit 1'),
    { do: 'begin', name: 'narrow', writes: ['only/**'] },
    { do: 'run', name: 'narrow', command: 'echo 8 > elsewhere.txt' },
    { do: 'finish', name: 'narrow' },
    { do: 'begin', name: 'elsewhere' },
    { do: 'operate', name: 'elsewhere', operation },
    { do: 'operate', name: 'elsewhere', operation: { ...operation, path: '/etc/x' } },
    { do: 'write', name: 'elsewhere', path: 'artifact.txt', text: 'words' },
    { do: 'finish', name: 'elsewhere' },
    { do: 'promote', name: 'elsewhere' },
    { do: 'begin', name: 'banned', readOnly: ['later.txt'] },
    { do: 'run', name: 'banned', command: 'echo 9 > later.txt' },
    { do: 'finish', name: 'banned' },
    { do: 'rollback', name: 'on it' },
    ...attempt('later', [], 'echo 10 > later-by-law.txt'),
  )
  const law = {
    policy_id: 'NO_LATER',
    tier: 1,
    policy_expr: `touches('${project}/later-by-law.txt')`,
  }
  const rest = {
    priority: 1,
    conflicts_with: [],
    override_mode: 'merge',
    violation_action: 'block',
  }
  ground.write('.writ/laws.yaml', JSON.stringify({ laws: [{ ...law, ...rest }] }))
  await ground.steps({ do: 'accept' })
  const [judged] = await ground.steps({ do: 'promote', name: 'later' })
  expect(judged?.ok.decision).toMatchObject({ code: 'law.NO_LATER' })
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [join(process.cwd(), 'bin', 'writ.cjs'), 'replay', '--json'],
    {
      cwd: project,
      encoding: 'utf8',
      env: {
        ...process.env,
        HOME: join(ground.folder, 'home'),
        XDG_STATE_HOME: join(ground.folder, 'state'),
      },
    },
  )
  expect(status, `${stderr}${stdout}`).toBe(0)
  const report = JSON.parse(stdout)
  expect(report).toMatchObject({ ok: true, differences: [], not_replayed: [] })
  // So many decisions are about attempts alone.
  expect(report.checked).toBeGreaterThanOrEqual(16)
})
