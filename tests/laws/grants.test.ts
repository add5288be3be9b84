/**
 * What an agent may do without a question, with the built program: a declaration is no permission, a
 * scope lies inside the workspace, and no undo is used up without a question.
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Place } from '../cli-gate/place.ts'

let place: Place
let token = ''
beforeAll(() => {
  place = new Place('grants', { runs: 'warm' })
  rmSync(join(place.project, '.git'), { recursive: true })
  git('init', '-q', '-b', 'main')
  writeFileSync(join(place.project, 'tracked'), 'one\n')
  writeFileSync(join(place.project, 'private'), 'mine\n')
  writeFileSync(join(place.project, 'large'), Buffer.alloc(2_000_000, 'x'))
  git('add', '-A')
  git('-c', 'user.name=A', '-c', 'user.email=a@b', 'commit', '-qm', 'one')
  writeFileSync(join(place.project, 'loose'), 'the only copy\n')
  place.init()
  expect(place.writ(['principal', 'add', 'ai:builder@local']).status).toBe(0)
  token = place.writ(['token', 'create', 'ai:builder@local', '--json']).json.token
})
afterAll(() => place.remove())

function git(...argv: readonly string[]): void {
  const { status, stderr } = spawnSync('git', argv, { cwd: place.project, encoding: 'utf8' })
  expect(status, stderr).toBe(0)
}

/** An agent that declares everything. */
function agent(script: string, ...options: readonly string[]) {
  const declared = ['--write', '.', '--delete', '.', ...options]
  return place.writ(['exec', ...declared, '--', 'sh', '-c', script], { token })
}

function accept(text: string): void {
  writeFileSync(join(place.project, '.writ', 'laws.yaml'), text)
  const { status, err } = place.writ(['laws', 'accept', '--yes'])
  expect(status, err).toBe(0)
}

describe('an agent', () => {
  it('creates files and changes what git tracks', () => {
    expect(agent('echo two > tracked; echo new > fresh').status).toBe(0)
  })

  it.each([
    ['a deletion', 'rm tracked', 'the act did not make it'],
    [
      'a file that git does not track',
      'echo x > loose',
      'git does not have the version from before',
    ],
  ])('is asked about %s, no matter what it declared', (_, script, words) => {
    const { status, err, lastLine } = agent(script)
    expect([status, lastLine]).toEqual([75, 'writ: effect.ungranted'])
    expect(err).toContain(words)
  })

  it.each([
    ['writing for others', 'chmod 666 tracked', 'mode 0644 to 0666'],
    ['reading for others', 'chmod 604 private; echo x > private', 'mode 0600 to 0604'],
    ['an attribute', 'setfattr -n user.x -v 1 tracked', 'attributes or access list'],
    ['a new file for everyone', 'umask 0; echo x > open', 'every user of this machine'],
    ['a new directory for everyone', 'mkdir -m 777 wide', 'every user of this machine'],
    ...(process.getuid?.() === 0
      ? [
          ['another owner', 'chown 1791 tracked', 'owner or group'],
          ['a new file of another', 'echo x > given; chown 1791 given', 'another owner, uid 1791'],
        ]
      : []),
  ])('is asked about %s, which git does not keep', (_, script, words) => {
    chmodSync(join(place.project, 'private'), 0o600)
    const { status, err, lastLine } = agent(script)
    expect([status, lastLine], err).toEqual([75, 'writ: effect.ungranted'])
    expect(err).toContain(words)
  })

  it('makes a tracked file a program, and takes writing from the group, without a question', () => {
    expect(agent('chmod +x tracked').status).toBe(0)
    chmodSync(join(place.project, 'private'), 0o664)
    expect(agent('chmod 644 private').status).toBe(0)
  })

  it('is asked about uncommitted work of a person, also after it staged that itself', () => {
    writeFileSync(join(place.project, 'notes'), 'the only copy\n')
    const staged = agent('git add notes')
    expect(staged.status, staged.err).toBe(0)
    const { status, err } = agent('echo x > notes')
    expect([status, err]).toEqual([
      75,
      expect.stringContaining('git does not have the version from before'),
    ])
  })

  it('changes again what it made and staged, and what a branch holds that is packed', () => {
    expect(agent('mkdir -p sub; echo 1 > sub/own; git add sub').status).toBe(0)
    expect(agent('echo 2 > sub/own').status).toBe(0)
    git('checkout', '-q', '--', 'tracked')
    git('pack-refs', '--all')
    git('gc', '-q')
    expect(agent('echo three > tracked').status).toBe(0)
  })

  it('names no scope outside the workspace, and no caller one of the system', () => {
    const other = join(place.folder, 'other')
    mkdirSync(other)
    const scoped = ['exec', '--scope', '.', '--scope', other, '--write', '.', '--', 'true']
    expect(place.writ(scoped, { token }).lastLine).toBe('writ: descriptor.scope_outside')
    const system = ['exec', '--scope', '.', '--scope', '/etc/cron.d', '--', 'true']
    expect(place.writ(system).lastLine).toBe('writ: descriptor.host_access')
    const asked = ['exec', '--scope', '.', '--scope', other, '--write', other, '--']
    const person = place.writ([...asked, 'touch', join(other, 'x')])
    expect([person.status, person.lastLine]).toEqual([75, 'writ: confirm.scope'])
  })

  it('may do what a law grants', () => {
    const other = join(place.folder, 'other')
    accept(
      `laws: []\ngrants:\n  - grant_id: LOOSE\n    actors: ['ai:builder']\n    change: [loose]\n    delete: [fresh]\n    scope: ['${other}/**']\n`,
    )
    expect(agent('echo x > loose; rm fresh').status).toBe(0)
    expect(agent('rm tracked').status).toBe(75)
  })

  it('is asked beyond the bounds of a grant', () => {
    accept(
      'laws: []\ngrants:\n  - grant_id: CREATE\n    create: [m/**]\n    per_act: { files: 2, mb: 1 }\n',
    )
    expect(agent('mkdir m; : > m/a').status).toBe(0)
    const { status, err } = agent('for i in 1 2 3; do : > m/$i; done')
    expect([status, err]).toEqual([
      75,
      expect.stringContaining('3 files, and the grant CREATE holds 2'),
    ])
  })

  it('waits for a human before it uses up what takes its acts back', () => {
    accept('laws: []\nsettings: { retention: { actor_quota_mb: 3 } }\n')
    expect(agent('echo 1 > large').status).toBe(0)
    git('checkout', '-q', 'large')
    const { status, lastLine } = agent('echo 2 > large')
    expect([status, lastLine]).toEqual([75, 'writ: confirm.undo_quota'])
  })

  it('is judged again as it was', () => {
    const { status, json } = place.writ(['replay', '--json'])
    expect({ status, differences: json.differences }).toEqual({ status: 0, differences: [] })
  })
})
