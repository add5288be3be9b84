/**
 * What a run changes outside its scope and in writ's own directory, with the built program: what is
 * kept, what is not, and which words tell the person so. Submodules, which lie in two places.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { Place } from './place.ts'

// Each test is several processes, and each of them a sandbox.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 180_000 })

const places: Place[] = []
afterAll(() => {
  for (const place of places) place.remove()
})

const NAMED = ['-c', 'user.name=A', '-c', 'user.email=a@b', '-c', 'protocol.file.allow=always']

function git(cwd: string, ...argv: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('git', [...NAMED, ...argv], {
    cwd,
    encoding: 'utf8',
  })
  expect(status, stderr).toBe(0)
  return stdout
}

/** A repository with one commit, below the home as people have it. */
function repository(name: string): Place {
  const place = new Place(name, { runs: 'warm' })
  places.push(place)
  rmSync(place.project, { recursive: true })
  const project = join(place.home, 'shop')
  Object.assign(place, { project })
  git(place.home, 'init', '-q', '-b', 'main', 'shop')
  place.write('a')
  git(project, 'add', 'a')
  git(project, 'commit', '-qm', 'one')
  return place.init()
}

let place: Place
describe('git clean -fdx', () => {
  beforeEach(() => {
    place = repository('clean')
    place.write('junk')
    place.write('out/b')
  })

  it('removes what is not tracked, leaves `.writ`, says so, and can be undone', () => {
    const { status, err } = place.writ(['exec', '-y', '--', 'git', 'clean', '-fdx'])
    expect(status, err).toBe(0)
    expect(err).toContain('the run deleted the directory of writ, which stays where it is')
    expect(readdirSync(place.project).sort()).toEqual(['.git', '.writ', 'a'])
    expect(readdirSync(join(place.project, '.writ')).sort()).toEqual([
      '.gitignore',
      'id',
      'laws.yaml',
      'rules',
    ])
    expect(place.writ(['undo']).status).toBe(0)
    expect([place.has('junk'), place.has('out/b')]).toEqual([true, true])
    expect(place.writ(['replay']).out).toContain('0 differ')
  })
})

describe('a move out of the scope', () => {
  it('is not answered by --yes, since what was moved would be lost', () => {
    place = repository('moved')
    mkdirSync(join(place.home, 'archive'))
    const { status, err } = place.writ(['exec', '-y', '--', 'mv', 'a', '../archive/'])
    expect(status).toBe(75)
    expect(err).toContain('--yes does not answer this: what the command wrote outside the scope')
    expect(err).toContain('writ exec --scope . --scope ../archive -- …')
    expect([place.has('a'), readdirSync(join(place.home, 'archive'))]).toEqual([true, []])
  })
})

describe('a worktree outside the scope', () => {
  const add = ['git', 'worktree', 'add', '../wt']

  it('is reported with the option that includes it, and works with that', () => {
    place = repository('worktree')
    const words = 'mkdir -p ../wt && writ exec --scope . --scope ../wt -- …'
    for (const options of [['-y'], ['--write', '.']]) {
      const { err, status } = place.writ(['exec', ...options, '--', ...add])
      expect(status).not.toBe(0)
      expect(err).toContain(`to include what lies outside the scope: ${words}`)
    }
    const scoped = ['exec', '--scope', '.', '--scope', '../wt', '--', ...add]
    expect(place.writ(scoped).err).toContain(`make it first: mkdir -p ${place.home}/wt`)
    execFileSync('mkdir', [join(place.home, 'wt')])
    const seen = place.person(scoped, [{ expect: 'promote them?' }, { send: 'y\n' }])
    expect(seen.status, seen.output).toBe(0)
    expect(git(join(place.home, 'wt'), 'status', '--short', '--branch')).toBe('## wt\n')
  })
})

describe('a push to a repository outside the scope', () => {
  it('is not answered by `approve --yes`, and a person hears what a yes loses', () => {
    place = repository('push')
    git(place.home, 'init', '-q', '--bare', 'remote.git')
    git(place.project, 'remote', 'add', 'origin', '../remote.git')
    git(place.project, 'branch', 'feat')
    const pushed = place.writ(['exec', '--', 'git', 'push', '-q', 'origin', 'feat'])
    expect(pushed.status, pushed.err).toBe(75)
    const [{ id }] = place.pending()
    for (const words of [[id], ['--like', id]]) {
      const { status, err } = place.writ(['approve', ...words, '--yes'])
      expect(status, err).not.toBe(0)
      expect(err).toContain('what the command wrote outside would be lost')
      expect(err).toContain('confirm.not_given')
    }
    expect(git(place.project, 'branch', '-r')).toBe('')
    const seen = place.person(
      ['approve', id],
      [
        { expect: 'A yes keeps only the scope' },
        { expect: '[y, N: leave it waiting' },
        { send: 'n\n' },
      ],
    )
    expect([seen.status, seen.failed], seen.output).toEqual([3, null])
    expect(place.pending()).toHaveLength(1)
  })
})

describe('submodules', () => {
  it('are added, committed in, bumped and made in a clone', () => {
    place = repository('submodule')
    git(place.home, 'init', '-q', '-b', 'main', 'lib')
    git(join(place.home, 'lib'), 'commit', '-q', '--allow-empty', '-m', 'lib')
    const yes = [{ expect: 'promote them?' }, { send: 'y\n' }]
    const at = ['exec', '--', 'git', ...NAMED]
    const url = `file://${join(place.home, 'lib')}`
    const added = place.person([...at, 'submodule', 'add', url, 'lib'], yes)
    expect(added.status, added.output).toBe(0)
    git(place.project, 'commit', '-qm', 'lib')
    const lib = join(place.project, 'lib')
    const inside = [
      'exec',
      '-y',
      '--',
      'git',
      ...NAMED,
      'commit',
      '-q',
      '--allow-empty',
      '-m',
      'in',
    ]
    const committed = place.writ(inside, { cwd: lib })
    expect(committed.status, committed.err).toBe(0)
    expect(git(lib, 'log', '-1', '--format=%s')).toBe('in\n')
    const bump = place.writ(['exec', '-y', '--', 'git', ...NAMED, 'commit', '-qam', 'bump'])
    expect(bump.status, bump.err).toBe(0)
    expect(git(place.project, 'status', '--short', 'lib')).toBe('')
    expect(place.writ(['undo']).status).toBe(0)
    expect(git(place.project, 'status', '--short', 'lib')).toBe(' M lib\n')
    git(lib, 'push', '-q', 'origin', 'HEAD:refs/heads/in')
    git(place.project, 'commit', '-qam', 'bump')
    git(place.home, 'clone', '-q', `file://${place.project}`, 'copy')
    const copy = join(place.home, 'copy')
    expect(place.writ(['init', '--no-pass', '--name', 'ann'], { cwd: copy }).status).toBe(0)
    const update = [...at, 'submodule', 'update', '--init']
    const updated = place.person(update, yes, { cwd: copy })
    expect(updated.status, updated.output).toBe(0)
    expect(existsSync(join(copy, 'lib', '.git'))).toBe(true)
    expect(git(join(copy, 'lib'), 'log', '-1', '--format=%s')).toBe('in\n')
  })
})

describe('changes to the home outside the scope', () => {
  it('are reported on standard error with `--yes`, with the option that includes them', () => {
    place = repository('yes')
    const script = 'mkdir -p ~/.tool; echo 1 > ~/.tool/state; echo 2 > b'
    const { status, err } = place.exec(['-y'], script)
    expect(status, err).toBe(0)
    expect(place.has('b')).toBe(true)
    expect(existsSync(join(place.home, '.tool'))).toBe(false)
    expect(err).toContain(`${place.home}/.tool/state: added`)
    expect(err).toContain('writ exec --scope . --scope ../.tool -- …')
    expect(err).toContain('at a terminal without --yes and answer `all`')
  })

  const WRITES = 'mkdir -p ~/.tool; echo 1 > ~/.tool/state; echo n > ~/notes; echo 2 > b'
  const CHOICE = 'keep which changes? [all, s: only the scope, N: none, later]'
  const inHome = (): boolean[] =>
    ['.tool/state', 'notes'].map((name) => existsSync(join(place.home, name)))

  it('are kept where the person answers all, and taken back with the rest', () => {
    place = repository('all')
    const steps = [
      { expect: CHOICE },
      { send: 'all\n' },
      { expect: 'Runs by itself later (1)' },
      { expect: 'promote them?' },
      { send: 'y\n' },
    ]
    const seen = place.execAsPerson([], WRITES, steps)
    expect([seen.status, seen.failed], seen.output).toEqual([0, null])
    expect([place.has('b'), ...inHome()]).toEqual([true, true, true])
    expect(place.writ(['undo']).status).toBe(0)
    expect([place.has('b'), ...inHome()]).toEqual([false, false, false])
    expect(place.writ(['replay']).out).toContain('0 differ')
    expect(place.writ(['ledger', 'verify']).status).toBe(0)
  })

  it('are left out where the person answers scope', () => {
    place = repository('scope')
    const steps = [
      { expect: CHOICE },
      { send: 's\n' },
      { expect: 'promote them?' },
      { send: 'y\n' },
    ]
    const seen = place.execAsPerson([], WRITES, steps)
    expect([seen.status, seen.failed], seen.output).toEqual([0, null])
    expect([place.has('b'), ...inHome()]).toEqual([true, false, false])
    expect(place.writ(['replay']).out).toContain('0 differ')
  })

  it('are dropped with the rest where the person answers nothing', () => {
    place = repository('none')
    const seen = place.execAsPerson([], WRITES, [{ expect: CHOICE }, { send: '\n' }])
    expect([seen.status, seen.failed], seen.output).toEqual([125, null])
    expect(seen.output).not.toContain('promote them?')
    expect([place.has('b'), ...inHome()]).toEqual([false, false, false])
    expect(place.pending()).toEqual([])
  })

  it.each([
    ['later', { send: 'later\n' }],
    ['Ctrl-C', { send: '\x03' }],
    ['Ctrl-D', { send: '\x04' }],
    ['a signal', { signal: 15 }],
    ['a closed terminal', { hangup: true as const }],
  ])('wait in the inbox with the rest after %s, and are kept by a yes there', (_name, step) => {
    place = repository('waits')
    const seen = place.execAsPerson([], WRITES, [{ expect: CHOICE }, step])
    expect(seen.failed, seen.output).toBe(null)
    if (!('hangup' in step)) {
      expect(seen.status, seen.output).toBe(75)
      expect(seen.output).toContain('keeps all of them')
    }
    expect([place.has('b'), ...inHome()]).toEqual([false, false, false])
    const [{ id }] = place.pending()
    const steps = [{ expect: 'promote them?' }, { send: 'y\n' }]
    const approved = place.person(['approve', id], steps)
    expect([approved.status, approved.failed], approved.output).toEqual([0, null])
    expect([place.has('b'), ...inHome()]).toEqual([true, true, true])
  })

  it('are asked about again after another word', () => {
    place = repository('word')
    const steps = [
      { expect: CHOICE },
      { send: 'y\n' },
      { expect: CHOICE },
      { send: 's\n' },
      { expect: 'promote them?' },
      { send: 'y\n' },
    ]
    const seen = place.execAsPerson([], WRITES, steps)
    expect([seen.status, seen.failed], seen.output).toEqual([0, null])
    expect([place.has('b'), ...inHome()]).toEqual([true, false, false])
  })

  it('are refused where a law forbids them, and the scope is asked about alone', () => {
    place = repository('law')
    const steps = [
      { expect: CHOICE },
      { send: 'all\n' },
      { expect: 'cannot be kept, only the scope is asked about' },
      { expect: 'law.NO_CREDENTIALS' },
      { expect: 'promote them?' },
      { send: 'y\n' },
    ]
    const script = 'mkdir -p ~/.docker; echo 1 > ~/.docker/config.json; echo 2 > b'
    const seen = place.execAsPerson([], script, steps)
    expect([seen.status, seen.failed], seen.output).toEqual([0, null])
    expect([place.has('b'), existsSync(join(place.home, '.docker'))]).toEqual([true, false])
  })
})
