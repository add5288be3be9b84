/** `writ log --follow` on PostgreSQL, through the built program: servers stop, facts come once each. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type PostgresServer, startPostgres } from '../tools/postgres.mjs'
import { Follower } from './cli-history/follower.ts'
import { task } from './ledger/entries.ts'
import { asOwner } from './ledger/postgres-ledger.ts'

const folder = mkdtempSync(join(tmpdir(), 'writ-pg-follow-'))
const project = join(folder, 'project')
const env = { PATH: process.env['PATH'], HOME: folder, XDG_STATE_HOME: join(folder, 'state') }
let server: PostgresServer
const issuer = { kind: 'human', id: 'ann', namespace: 'farm' }

beforeAll(async () => {
  server = await startPostgres()
  mkdirSync(project)
  const url = `postgresql://postgres@/postgres?host=${server.connection.host}`
  writ(['init', '--no-pass', '--name', 'ann', '--namespace', 'farm', '--store', url])
}, 180_000)

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await server.stop()
})

function writ(words: readonly string[], input = ''): string {
  const program = join(process.cwd(), 'bin', 'writ.cjs')
  const options = { cwd: project, env, input, encoding: 'utf8' } as const
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...words], options)
  expect([stderr, status], stdout).toEqual(['', 0])
  return stdout
}

function issue(): void {
  const { act_task_id: _id, ...given } = task('x') as Record<string, unknown>
  writ(['task', 'issue', '-'], JSON.stringify({ ...given, issuer }))
}

it.each([
  ['is killed', () => server.kill('crash')],
  ['drops everything', () => server.kill('immediate')],
  [
    'ends every session',
    () =>
      asOwner(server, (client) =>
        client.query(
          'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()',
        ),
      ),
  ],
])(
  'goes on without a gap or a double when the server %s',
  async (_, stop) => {
    const { next: _next, facts } = JSON.parse(writ(['log', '--json']))
    const first = facts.length
    const follower = new Follower(project, env, first === 0 ? [] : ['--after', String(first - 1)])
    try {
      issue()
      await follower.reached(1)
      await stop()
      await server.start()
      issue()
      issue()
      await follower.reached(3)
      expect(follower.seqs).toEqual([first, first + 1, first + 2])
      expect(follower.said).toBe('')
    } finally {
      await follower.end()
    }
  },
  120_000,
)
