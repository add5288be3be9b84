/**
 * What an agent may do unasked to the repository it works in, with the built program and real git:
 * ordinary commands yes, what git itself would never do to its own files no.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { Place } from '../cli-gate/place.ts'

let place: Place
let token = ''
beforeAll(() => {
  place = new Place('git-grants', { runs: 'warm' })
  rmSync(join(place.project, '.git'), { recursive: true })
  sh(`git init -q -b main . && git config user.name A && git config user.email a@b
    echo one > tracked && git add -A && git commit -qm one
    git branch old && git tag packed && git pack-refs --all && git gc -q
    echo two > tracked && git commit -qam two && git tag loose
    git checkout -qb topic && echo t > topic.txt && git add -A && git commit -qm topic
    git checkout -q main && echo s > tracked && git stash -q
    git clone -q --bare . ~/origin.git && git remote add origin ~/origin.git
    git fetch -q origin && git push -q origin topic:fresh topic:main`)
  writeFileSync(join(place.project, 'notes.txt'), 'the only copy\n')
  cpSync(place.project, pristine(), { recursive: true })
  place.init()
  expect(place.writ(['principal', 'add', 'ai:builder@local']).status).toBe(0)
  token = place.writ(['token', 'create', 'ai:builder@local', '--json']).json.token
})
afterAll(() => place.remove())
beforeEach(() => {
  sh('find . -mindepth 1 -maxdepth 1 ! -name .writ -exec rm -rf {} +')
  sh(`cp -a ${pristine()}/. .`)
  mkdirSync(place.project, { recursive: true })
})

function pristine(): string {
  return join(place.folder, 'pristine')
}

function sh(script: string): void {
  execFileSync('sh', ['-ec', script], { cwd: place.project, env: place.env() })
}

/** An agent that declares everything. */
function agent(script: string) {
  const declared = ['--write', '.', '--delete', '.']
  return place.writ(['exec', ...declared, '--', 'sh', '-ec', script], { token })
}

describe('an agent is asked', () => {
  it.each([
    ['emptied objects', 'find .git/objects -type f | while read f; do chmod u+w $f; : > $f; done'],
    ['a deleted object', 'rm -f $(find .git/objects -type f -path "*/??/*" | head -n 1)'],
    ['an object without bytes', 'mkdir -p .git/objects/ab; : > .git/objects/ab/$(printf %038d 0)'],
    ['objects that cannot be read', 'chmod 0 .git/objects/pack'],
    ['packing', 'git gc -q'],
    ['emptied packed references', ': > .git/packed-refs'],
    ['packed references that lose one', 'sed -i /old/d .git/packed-refs'],
    [
      'packed references that replace',
      'h=$(git rev-parse HEAD); echo "$h refs/replace/$h" >> .git/packed-refs',
    ],
    ['an emptied stash', ': > .git/refs/stash'],
    ['a stash that is dropped', 'git stash drop -q'],
    ['a stash that points elsewhere', 'git rev-parse HEAD > .git/refs/stash'],
    ['an emptied branch', ': > .git/refs/heads/main'],
    ['a branch that names nothing', 'printf "%040d\\n" 1 > .git/refs/heads/main'],
    ['a branch moved without a note', 'git rev-parse old > .git/refs/heads/main'],
    ['a packed branch moved without a note', 'git rev-parse main > .git/refs/heads/old'],
    ['a deleted branch', 'git branch -q -D topic'],
    ['a moved tag', 'git tag -f loose old'],
    ['a lock of a branch', 'git rev-parse main > .git/refs/heads/main.lock'],
    ['an emptied log', ': > .git/logs/HEAD'],
    ['a rewritten log', 'sed -i s/one/two/ .git/logs/refs/heads/main'],
    ['a deleted log', 'rm .git/logs/HEAD'],
    ['a locked index', ': > .git/index.lock'],
    ['an emptied index', ': > .git/index'],
    ['what git ignores', 'echo notes.txt > .git/info/exclude'],
    ['objects from elsewhere', 'echo /tmp > .git/objects/info/alternates'],
    ['a cut history', 'git rev-parse HEAD > .git/shallow'],
    ['a replaced commit', 'git replace HEAD old'],
    ['remembered conflicts', 'mkdir -p .git/rr-cache/x; echo x > .git/rr-cache/x/postimage'],
    ['HEAD without a branch', 'echo "ref: refs/heads/none" > .git/HEAD'],
    ['HEAD outside of the branches', 'echo "ref: refs/stash" > .git/HEAD'],
    ['HEAD on a commit', 'git checkout -q --detach'],
    ['an emptied HEAD', ': > .git/HEAD'],
    ['a link in place of a branch', 'ln -sf ../../../notes.txt .git/refs/heads/main'],
    ['a file that git does not know', 'echo x > .git/anything'],
    [
      'commands for the next rebase',
      'mkdir .git/rebase-merge; echo "exec id" > .git/rebase-merge/git-rebase-todo',
    ],
    ['a build directory among references', 'mkdir -p .git/refs/build; echo x > .git/refs/build/x'],
  ])('about %s', (_, script) => {
    const { status, err } = agent(script)
    expect([status, err]).toEqual([75, expect.stringContaining("git's ordinary commands do not")])
  })
})

describe('an agent is asked about a hook that only git holds', () => {
  const BLOB = 'blob=$(echo id | git hash-object -w --stdin); '
  const STAGE = `${BLOB}git update-index --add --cacheinfo 100755,$blob,.husky/pre-commit; `
  const OTHER = 'export GIT_INDEX_FILE=$PWD/.git/other; git read-tree HEAD; '
  const WRITE = 'tree=$(git write-tree); rm -f .git/other; unset GIT_INDEX_FILE; '
  const commit = (parent: string) => `c=$(git commit-tree $tree -p ${parent} -m typo); `

  it.each([
    ['in the index', STAGE],
    [
      'in the commit of the branch',
      `${OTHER}${STAGE}${WRITE}${commit('main')}git update-ref -m x refs/heads/main $c`,
    ],
    ['in a new branch', `${OTHER}${STAGE}${WRITE}${commit('main')}git branch fresh $c`],
    [
      'in a packed branch',
      `${OTHER}${STAGE}${WRITE}${commit('old')}git update-ref -m x refs/heads/old $c`,
    ],
    ['in a manifest', `${BLOB}git update-index --add --cacheinfo 100644,$blob,package.json`],
    [
      'in a branch without a line feed',
      `${OTHER}${STAGE}${WRITE}${commit('main')}printf %s $c > .git/refs/heads/main`,
    ],
    ['in an index that writ cannot read', `${STAGE}printf more >> .git/index`],
    [
      'perhaps, in a tree without an end',
      `tree=$(printf endless | git hash-object -t tree -w --literally --stdin); ` +
        `${commit('main')}git update-ref -m x refs/heads/main $c`,
    ],
    [
      'perhaps, in a tree of trees that has no end in practice',
      `${BLOB}tree=$(printf '100644 blob %s\\ta\\n' $blob | git mktree); ` +
        'for level in 1 2 3 4 5 6 7 8 9; do tree=$(for name in 0 1 2 3 4 5 6 7 8 9; ' +
        `do printf '040000 tree %s\\t%s\\n' $tree $name; done | git mktree); done; ` +
        `${commit('main')}git update-ref -m x refs/heads/main $c`,
    ],
  ])('%s', (_, script) => {
    const { status, err } = agent(script)
    expect([status, err]).toEqual([75, expect.stringContaining('git would write files that run')])
  })

  it('and about none that lies in the tree with the same bytes', () => {
    sh('mkdir .husky; echo id > .husky/pre-commit')
    const { status, err } = agent('git add -A; git commit -qm hook; git branch fresh')
    expect(status, err).toBe(0)
  })
})

describe('a file counts as tracked', () => {
  const forge = (blob: string) =>
    `git update-index --add --cacheinfo 100644,${blob},notes.txt; git ls-files`

  it.each([
    ['names other bytes', forge('$(git rev-parse HEAD:tracked)')],
    ['names an object that is not there', forge('$(git hash-object notes.txt)')],
  ])('not if the index %s', (_, script) => {
    expect(agent(script).status).toBe(0)
    const { status, err } = agent('echo evil > notes.txt')
    expect([status, err]).toEqual([
      75,
      expect.stringContaining('git does not have the version from before'),
    ])
  })

  it('not if a person changed it since', () => {
    writeFileSync(join(place.project, 'tracked'), 'the only copy\n')
    expect(agent('echo x > tracked').status).toBe(75)
  })

  it('if a commit holds its bytes, packed or not, and while the agent works on it', () => {
    expect(agent('git add notes.txt').status).toBe(0)
    expect(agent('echo x > notes.txt').status).toBe(75)
    sh('git commit -qm notes && git repack -qad')
    expect(agent('echo y > notes.txt').status).toBe(0)
    for (const text of ['one', 'two', 'three']) {
      const { status, err } = agent(`echo ${text} >> tracked`)
      expect(status, err).toBe(0)
    }
  })
})

describe('a person who is asked', () => {
  it.each([
    [
      'the objects',
      'for f in .git/objects/pack/*; do chmod u+w $f; : > $f; done',
      '~ .git/objects/pack/',
    ],
    ['the log', ': > .git/logs/HEAD', '~ .git/logs/HEAD'],
    ['the replacement', 'git replace HEAD old', '+ .git/refs/replace/'],
    [
      'the hook in a commit',
      'mkdir .husky; echo id > .husky/pre-commit; chmod +x .husky/*; git add -A; git commit -qm typo',
      '+ .husky/pre-commit',
    ],
  ])('is shown %s', (_, script, shown) => {
    expect(agent(script).status).toBe(75)
    const { id } = place.pending().at(-1)
    expect(place.writ(['inbox', id]).out).toContain(shown)
    expect(place.writ(['deny', id]).status).toBe(0)
  })
})

describe('an agent does unasked', () => {
  it.each([
    ['add', 'echo x > tracked && echo y > new && git add -A'],
    ['commit', 'echo x > tracked && git commit -qam x'],
    ['commit twice', 'for i in 1 2; do echo $i > tracked; git commit -qam $i; done'],
    ['amend', 'git commit -q --amend -m better'],
    ['branch', 'git branch fresh && git branch feature/deep'],
    ['switch to a branch', 'git checkout -qb fresh && echo x > tracked && git commit -qam x'],
    ['switch to a packed branch', 'git checkout -q old'],
    ['merge', 'git merge -q --no-edit topic'],
    ['merge without a commit', 'git merge -q --no-ff --no-commit topic'],
    ['rebase', 'echo m > m && git add m && git commit -qm m && git rebase -q main topic'],
    ['cherry-pick', 'echo m > m && git add m && git commit -qm m && git cherry-pick topic'],
    ['reset', 'git reset -q --soft HEAD~1'],
    ['move a packed branch', 'git branch -f old main'],
    ['stash', 'echo x > tracked && git stash -q'],
    ['tag', 'git tag v1 && git tag -a v2 -m two'],
    ['note', 'git notes add -m seen HEAD'],
    ['fetch', 'git fetch -q origin'],
  ])('%s', (_, script) => {
    const { status, err } = agent(script)
    expect(status, err).toBe(0)
  })

  it('and all of it is judged again as it was', () => {
    const { status, json } = place.writ(['replay', '--json'])
    expect({ status, differences: json.differences }).toEqual({ status: 0, differences: [] })
  })
})
