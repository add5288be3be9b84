/**
 * Homes and git, with the built program: what git does to `.writ`, and whose history a directory
 * continues after it was cleaned, copied, moved or linked.
 */
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Place } from '../cli-gate/place.ts'

let place: Place
beforeEach(() => {
  place = new Place('homes', { runs: 'warm' })
  rmSync(join(place.project, '.git'), { recursive: true })
  git(place.project, 'init', '-q', '-b', 'main')
  write('a', '1\n')
  commit('one')
  git(place.project, 'branch', 'before')
  place.init()
  commit('laws')
})
afterEach(() => place.remove())

function git(cwd: string, ...argv: readonly string[]): string {
  const named = ['-c', 'user.name=A', '-c', 'user.email=a@b']
  const { status, stdout, stderr } = spawnSync('git', [...named, ...argv], {
    cwd,
    encoding: 'utf8',
  })
  expect(status, stderr).toBe(0)
  return stdout
}

function write(name: string, text: string): void {
  writeFileSync(join(place.project, name), text)
}

function commit(message: string): void {
  git(place.project, 'add', '-A')
  git(place.project, 'commit', '-qm', message)
}

function exec(argv: readonly string[], cwd = place.project) {
  return place.writ(['exec', '--yes', '--', ...argv], { cwd })
}

const here = (name: string): boolean => existsSync(join(place.project, name))

describe('.writ and git', () => {
  it('keeps the id out of the repository', () => {
    expect(git(place.project, 'ls-files')).not.toContain('.writ/id')
  })

  it('lets a checkout take the laws away and bring them back, and goes on by the accepted ones', () => {
    expect(exec(['git', 'checkout', '-q', 'before']).status).toBe(0)
    expect([here('.writ/laws.yaml'), here('.writ/id')]).toEqual([false, true])
    const waits = place.writ(['exec', '--', 'touch', 'x'])
    expect([waits.status, waits.err]).toEqual([75, expect.stringContaining('writ laws accept')])
    expect(exec(['git', 'checkout', '-q', 'main']).status).toBe(0)
    expect(here('.writ/laws.yaml')).toBe(true)
  })

  it('asks about a change of the law file also where it was declared, and never about the id', () => {
    const file = [
      '--write',
      '.writ/laws.yaml',
      '--',
      'sh',
      '-c',
      'echo "laws: []" > .writ/laws.yaml',
    ]
    expect(place.writ(['exec', ...file]).lastLine).toBe('writ: effect.laws_file')
    const id = exec(['sh', '-c', 'echo x > .writ/id'])
    expect([id.status, id.lastLine]).toEqual([125, 'writ: effect.host_state'])
  })

  it('lets git clean remove the empty rules', () => {
    expect(exec(['git', 'clean', '-fdq']).status).toBe(0)
    expect([here('.writ/rules'), here('.writ/id')]).toEqual([false, true])
  })

  it('recognises a home whose id is gone, and undoes what it did before', () => {
    expect(exec(['touch', 'made']).status).toBe(0)
    git(place.project, 'clean', '-fdxq', '-e', 'made')
    expect(here('.writ/id')).toBe(false)
    const undone = place.writ(['undo'])
    expect([undone.status, here('made')]).toEqual([0, false])
    const before = place.writ(['init', '--no-pass', '--json']).json
    expect(before.created).toContain(join(place.project, '.writ', 'id'))
  })
})

describe('whose history it is', () => {
  it('gives a copy its own, and undoes nothing of the original from there', () => {
    const copy = join(place.folder, 'copy')
    cpSync(place.project, copy, { recursive: true })
    expect(exec(['touch', 'in-copy'], copy).lastLine).toBe('writ: home.copied')
    const made = place.writ(['init', '--no-pass', '--json'], { cwd: copy }).json
    expect(made.copied_from).toBe(join(place.project, '.writ'))
    const id = (directory: string) => readFileSync(join(directory, '.writ', 'id'), 'utf8')
    expect(id(copy)).not.toBe(id(place.project))
    expect(exec(['touch', 'in-original']).status).toBe(0)
    const nothing = place.writ(['undo', '--json'], { cwd: copy })
    expect([nothing.json.error.code, here('in-original')]).toEqual(['rollback.nothing', true])
  })

  it('asks a person about a moved one, and leaves what was done elsewhere alone', () => {
    expect(exec(['touch', 'old']).status).toBe(0)
    const moved = join(place.folder, 'moved')
    renameSync(place.project, moved)
    const refused = exec(['touch', 'x'], moved)
    expect(refused.lastLine).toBe('writ: home.moved')
    expect(refused.err).toContain('`writ trust`')
    expect(place.writ(['undo'], { cwd: moved }).status).toBe(4)
    expect(place.writ(['trust'], { cwd: moved }).status).toBe(0)
    expect(exec(['touch', 'new'], moved).status).toBe(0)
    expect(place.writ(['undo'], { cwd: moved }).status).toBe(0)
    const older = place.writ(['undo', '--json'], { cwd: moved }).json.error
    expect([older.code, older.message]).toEqual([
      'rollback.elsewhere',
      expect.stringContaining(place.project),
    ])
  })

  it('takes another directory at the same place for another one', () => {
    renameSync(place.project, join(place.folder, 'aside'))
    mkdirSync(place.project)
    expect(place.writ(['init', '--no-pass', '--json']).json.error.code).toBe('home.moved')
    expect(place.writ(['init', '--no-pass', '--new']).status).toBe(0)
    expect(exec(['touch', 'x']).status).toBe(0)
  })
})

describe('a new history in the place of one with a passphrase', () => {
  const SECRET = 'four words of mine'
  const idHere = () => readFileSync(join(place.project, '.writ', 'id'), 'utf8')
  beforeEach(() => {
    expect(place.writ(['principal', 'pass', '--pass-fd', '3'], { passphrase: SECRET }).status).toBe(
      0,
    )
  })

  it('needs that passphrase, and the old ledger says that it was set aside', () => {
    const id = idHere()
    const without = place.writ(['init', '--new', '--no-pass', '--json'])
    expect([without.status, without.json.error.code]).toEqual([1, 'credential.required'])
    const args = ['init', '--new', '--no-pass', '--pass-fd', '3', '--json']
    const wrong = place.writ(args, { passphrase: 'four words of another' })
    expect([wrong.json.error.code, idHere()]).toEqual(['credential.wrong', id])
    const made = place.writ(args, { passphrase: SECRET })
    expect([made.status, made.json.credential]).toEqual([0, 'none'])
    const fresh = idHere()
    expect(fresh).not.toBe(id)
    writeFileSync(join(place.project, '.writ', 'id'), id)
    expect(place.writ(['trust', '--yes', '--pass-fd', '3'], { passphrase: SECRET }).status).toBe(0)
    expect(place.writ(['log', '--facts', '--stream', 'host', '--json']).out).toContain('halt_v1')
    expect(exec(['touch', 'x']).lastLine).toBe('writ: halted')
  })

  it('keeps the passphrase of the descriptor for the new history', () => {
    const made = place.writ(['init', '--new', '--pass-fd', '3', '--json'], { passphrase: SECRET })
    expect([made.status, made.json.credential]).toEqual([0, 'passphrase'])
  })

  it.each([
    ['another `id`', () => write('.writ/id', '00000000-0000-4000-8000-000000000000\n')],
    ['no `.writ`', () => rmSync(join(place.project, '.writ'), { recursive: true })],
  ])('needs it with %s too', (_what, change) => {
    change()
    const { error } = place.writ(['init', '--new', '--no-pass', '--json']).json
    expect(error.code).toBe('credential.required')
  })

  it('needs it where the `id` of another home makes it look like a copy', () => {
    const other = join(place.folder, 'other')
    mkdirSync(other)
    expect(place.writ(['init', '--no-pass'], { cwd: other }).status).toBe(0)
    cpSync(join(other, '.writ', 'id'), join(place.project, '.writ', 'id'))
    const { error } = place.writ(['init', '--no-pass', '--json']).json
    expect(error.code).toBe('credential.required')
  })

  it('needs none in a copied directory', () => {
    const copy = join(place.folder, 'copy')
    cpSync(place.project, copy, { recursive: true })
    expect(place.writ(['init', '--new', '--no-pass'], { cwd: copy }).status).toBe(0)
  })
})

describe('a linked worktree', () => {
  it('commits, rebases and is undone with the common directory of its repository', () => {
    const tree = join(place.folder, 'tree')
    git(place.project, 'worktree', 'add', '-q', tree, '-b', 'side')
    expect(place.writ(['init', '--no-pass'], { cwd: tree }).status).toBe(0)
    writeFileSync(join(tree, 'w'), '1\n')
    git(tree, 'add', 'w')
    const named = ['git', '-c', 'user.name=A', '-c', 'user.email=a@b']
    expect(exec([...named, 'commit', '-qm', 'w'], tree).status).toBe(0)
    expect(git(tree, 'log', '-1', '--format=%s')).toBe('w\n')
    expect(exec([...named, 'rebase', '-q', '--onto', 'before', 'main'], tree).status).toBe(0)
    expect(place.writ(['undo'], { cwd: tree }).status).toBe(0)
    expect(git(tree, 'log', '-2', '--format=%s')).toBe('w\nlaws\n')
  })

  it('takes no directory that does not name the working tree itself', () => {
    const tree = join(place.folder, 'forged')
    mkdirSync(tree)
    writeFileSync(join(tree, '.git'), `gitdir: ${join(place.project, '.git')}\n`)
    expect(place.writ(['init', '--no-pass'], { cwd: tree }).status).toBe(0)
    expect(exec(['git', 'branch', 'x'], tree).status).not.toBe(0)
    expect(git(place.project, 'branch', '--list', 'x')).toBe('')
  })
})
