/** A file ban holds for committed versions and for second names of the file. */
import { execFileSync } from 'node:child_process'
import { linkSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { artifact, flowOf, worker } from './acceptance/scene.ts'
import type { RunPlace } from './place.ts'
import { placeEach } from './place-each.ts'
import { script, TOOL } from './scripts.ts'

vi.setConfig({ testTimeout: 60_000 })

let place: RunPlace

placeEach('copies', (made) => {
  place = made
})

beforeEach(() => {
  place.write('output/agent.md', 'secret of the agent')
  place.write('open.md', 'open')
})

function git(at: string, ...words: readonly string[]): void {
  const who = ['-c', 'user.name=a', '-c', 'user.email=a@example.com']
  execFileSync('git', ['-C', at, ...who, ...words], { stdio: 'ignore' })
}

/** What each of these commands prints to an actor that may not read `output/**`. */
async function seenBy(...commands: readonly string[]): Promise<string> {
  const tries = commands.map(
    (command) =>
      `seen += spawnSync('sh', ['-c', ${JSON.stringify(command)}], { encoding: 'utf8' }).stdout`,
  )
  place.write(
    'a.mjs',
    script(`const { spawnSync } = await import('node:child_process')
let seen = ''
${tries.join('\n')}
${TOOL}${artifact("'saw: ' + seen")}`),
  )
  const ban = { actor: 'writer', resource_path: 'output/**', access_mode: 'read' as const }
  const access_rules = [{ ...ban, access_allowed: false }]
  const run = await place.run(flowOf([worker('a')], [], { access_rules }))
  expect(run.status).toBe('DONE')
  return place.read('artifacts/a/1/out.md')
}

const READS = [
  'git show HEAD:output/agent.md',
  'git grep -h of.the.agent HEAD',
  'git cat-file -p HEAD:output/agent.md',
  'git archive HEAD | tar -xO output/agent.md',
  'grep -rh of.the.agent . 2>/dev/null',
]

it('in the repository of the workspace', async () => {
  git(place.workspace, 'init', '-q')
  git(place.workspace, 'add', '-A')
  git(place.workspace, 'commit', '-qm', 'all')
  const seen = await seenBy(...READS, 'cat open.md')
  expect([seen.includes('secret of the agent'), seen.endsWith('open')]).toEqual([false, true])
})

it('in a repository above the workspace, and in one below', async () => {
  const above = dirname(place.workspace)
  git(above, 'init', '-q')
  git(above, 'add', 'project/output')
  git(above, 'commit', '-qm', 'all')
  mkdirSync(join(place.workspace, 'copy'))
  git(place.workspace, 'clone', '-q', '--bare', above, 'copy/store.git')
  const below = 'git --git-dir copy/store.git show HEAD:project/output/agent.md'
  const seen = await seenBy('git show HEAD:project/output/agent.md', below, 'cat open.md')
  expect(seen).toBe('saw: open')
})

it('in the store of a linked worktree, and in one that lends its objects', async () => {
  // Not among the temporary files, which no sandbox shows.
  const main = mkdtempSync(join(process.cwd(), 'node_modules', '.writ-main-'))
  onTestFinished(() => rmSync(main, { recursive: true, force: true }))
  git(main, 'init', '-q')
  execFileSync('cp', ['-r', join(place.workspace, 'output'), main])
  git(main, 'add', '-A')
  git(main, 'commit', '-qm', 'all')
  git(main, 'worktree', 'add', '-q', join(place.workspace, 'tree'))
  git(place.workspace, 'clone', '-q', '--shared', main, 'lent')
  const seen = await seenBy(
    'git -C tree show HEAD:output/agent.md',
    'git -C lent show HEAD:output/agent.md',
    'cat open.md',
  )
  expect(seen).not.toContain('secret')
})

it('by a second name in the workspace', async () => {
  linkSync(join(place.workspace, 'output/agent.md'), join(place.workspace, 'second.md'))
  expect(await seenBy('cat second.md', 'cat open.md')).toBe('saw: open')
})

it('is refused where a second name lies outside the workspace', async () => {
  linkSync(join(place.workspace, 'output/agent.md'), join(place.folder, 'second.md'))
  await expect(seenBy('true')).rejects.toMatchObject({
    fault: { code: 'flow.access_unenforceable', hint: expect.stringContaining('cp -p') },
  })
})

it('leaves repositories alone for an actor without a ban', async () => {
  git(place.workspace, 'init', '-q')
  git(place.workspace, 'add', '-A')
  git(place.workspace, 'commit', '-qm', 'all')
  place.write(
    'a.mjs',
    script(`const { execFileSync } = await import('node:child_process')
${TOOL}${artifact("execFileSync('git', ['show', 'HEAD:output/agent.md'], { encoding: 'utf8' })")}`),
  )
  const run = await place.run(flowOf([worker('a')], []))
  expect([run.status, place.read('artifacts/a/1/out.md')]).toEqual(['DONE', 'secret of the agent'])
})
