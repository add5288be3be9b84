/** Work with a repository. */
import type { RoutineTask } from '../task.ts'

/** What a commit changes in a repository. */
const COMMIT = [
  '.git/objects/**',
  '.git/refs/**',
  '.git/logs/**',
  '.git/index',
  '.git/COMMIT_EDITMSG',
]
const MOVE = [...COMMIT, '.git/HEAD', '.git/ORIG_HEAD']
/** Merging leaves and takes away more names than anybody knows by heart; settings are never meant. */
const SETTLE = ['.git/**']

const CONFIG = {
  code: 'effect.deferred_execution',
  because: 'a repository’s settings can run programs',
}

const git = (
  name: string,
  run: string,
  rest: Omit<RoutineTask, 'id' | 'start' | 'run'> = {},
): RoutineTask => ({ id: `git/${name}`, start: 'git', run, ...rest })

const BRANCH =
  'git checkout -qb topic && echo t >> src/a.txt && git commit -qam topic && git checkout -q main'

export const REPOSITORY: readonly RoutineTask[] = [
  git('status', 'git status --short --branch'),
  git('log', 'git log --oneline --stat'),
  git('diff', 'git diff HEAD', { before: 'echo more >> README.md' }),
  git('show', 'git show --stat HEAD'),
  git('blame', 'git blame README.md'),
  git('grep', 'git grep -n milk'),
  git('branch-list', 'git branch -av'),
  git('ls-files', 'git ls-files -s | head -n 3'),
  git('describe', 'git describe --tags --always', { before: 'git tag v1' }),
  git('shortlog', 'git shortlog -sn HEAD'),
  git('fsck', 'git fsck --no-progress'),
  git('add', 'git add -A', {
    before: 'echo more >> README.md && echo new > new.txt',
    declared: { write: ['.git/index', '.git/objects/**'] },
  }),
  git('commit', 'git commit -qam "more"', {
    before: 'echo more >> README.md',
    declared: { write: COMMIT },
  }),
  git('add-and-commit', 'git add src && git commit -qm "add c" && git log --oneline -1', {
    before: 'echo c > src/c.txt',
    declared: { write: COMMIT },
  }),
  git('commit-amend', 'git commit -q --amend -m "first, better"', { declared: { write: MOVE } }),
  git('branch', 'git branch topic', { declared: { write: ['.git/refs/**', '.git/logs/**'] } }),
  git('checkout-branch', 'git checkout -qb topic', { declared: { write: MOVE } }),
  git('switch', 'git switch -q topic', {
    before: BRANCH,
    declared: { write: [...MOVE, 'src/**'] },
  }),
  git('merge-fast-forward', 'git merge -q topic', {
    before: BRANCH,
    declared: { write: [...MOVE, 'src/**'] },
  }),
  git('merge-commit', 'git merge -q --no-edit topic', {
    before: `${BRANCH} && echo m > src/m.txt && git add -A && git commit -qm main`,
    declared: { write: [...SETTLE, 'src/**'] },
  }),
  git('rebase', 'git rebase -q main topic', {
    before: `${BRANCH} && echo m > src/m.txt && git add -A && git commit -qm main`,
    declared: { write: [...SETTLE, 'src/**'] },
  }),
  git('cherry-pick', 'git cherry-pick topic', {
    before: `${BRANCH} && echo m > src/m.txt && git add -A && git commit -qm main`,
    declared: { write: [...SETTLE, 'src/**'] },
  }),
  git('revert', 'git revert --no-edit HEAD', {
    before: 'echo x >> src/a.txt && git commit -qam x',
    declared: { write: [...SETTLE, 'src/**'] },
  }),
  git('stash', 'git stash -q', {
    before: 'echo x >> src/a.txt',
    declared: { write: [...MOVE, 'src/**'] },
  }),
  git('stash-pop', 'git stash pop -q', {
    before: 'echo x >> src/a.txt && git stash -q',
    declared: { write: [...SETTLE, 'src/**'], delete: ['.git/**'] },
  }),
  git('tag', 'git tag -a v1.0.0 -m "one"', {
    declared: { write: ['.git/refs/tags/**', '.git/objects/**'] },
  }),
  git('restore', 'git restore src/a.txt', {
    before: 'echo x >> src/a.txt',
    declared: { write: ['src/a.txt', '.git/index'] },
  }),
  git('reset-soft', 'git reset -q --soft HEAD~1', {
    before: 'echo x >> src/a.txt && git commit -qam x',
    declared: { write: MOVE },
  }),
  git('clean', 'git clean -fdq build', {
    before: 'mkdir build && echo x > build/x.o',
    declared: { delete: ['build/**'] },
  }),
  git('mv', 'git mv src/a.txt src/renamed.txt', {
    declared: { write: ['src/renamed.txt', '.git/index'], delete: ['src/a.txt'] },
  }),
  git('mv-folder', 'git mv src lib', {
    declared: { write: ['lib/**', '.git/index'], delete: ['src/**', 'src'] },
  }),
  git('mv-folder-and-commit', 'git mv src lib && git commit -qm "lib" && git status --short', {
    declared: { write: ['lib/**', ...COMMIT], delete: ['src/**', 'src'] },
  }),
  git('rm', 'git rm -q src/b.txt', {
    declared: { write: ['.git/index'], delete: ['src/b.txt'] },
  }),
  git('apply', 'git apply change.patch', {
    before: 'echo x >> src/a.txt && git diff > change.patch && git checkout -q src/a.txt',
    declared: { write: ['src/a.txt'] },
  }),
  git('format-patch', 'git format-patch -q -1 -o patches', { declared: { write: ['patches/**'] } }),
  git('archive', 'git archive --format=tar.gz -o shop.tar.gz HEAD', {
    declared: { write: ['shop.tar.gz'] },
  }),
  git('gc', 'git gc -q', {
    declared: { write: SETTLE, delete: ['.git/**'] },
    asks: {
      code: 'confirm.law',
      because: 'what was packed cannot be told from what was pruned without reading the packs',
    },
  }),
  git('pack-refs', 'git pack-refs --all', {
    declared: { write: ['.git/packed-refs'], delete: ['.git/refs/**'] },
  }),
  git('diff-touched', 'touch src/* && git diff --stat'),
  git('stash-list', 'git stash list', { before: 'echo x >> src/a.txt && git stash -q' }),
  git('worktree-list', 'git worktree list'),
  git('worktree-add', 'git worktree add -q trees/topic -b topic', {
    declared: { write: [...SETTLE, 'trees/**', 'trees/topic/.git'] },
    asks: CONFIG,
  }),
  git('notes', 'git notes add -m "seen" HEAD', { declared: { write: COMMIT } }),
  git('bundle', 'git bundle create -q shop.bundle --all', { declared: { write: ['shop.bundle'] } }),
  git('pull-local', 'git pull -q --ff-only', {
    before:
      'git init -q --bare ../shop.git && git remote add origin ../shop.git && git push -qu origin main && git commit -q --allow-empty -m two && git push -q && git reset -q --hard HEAD~1',
    declared: { write: [...MOVE, '.git/FETCH_HEAD'] },
  }),
  git('init', 'git init -q fresh', {
    declared: { write: ['fresh/**', 'fresh/.git/config'] },
    asks: CONFIG,
  }),
  git('clone', 'git clone -q --no-local . copy', {
    declared: { write: ['copy/**', 'copy/.git/config'] },
    asks: CONFIG,
  }),
  git('clone-by-hard-links', 'git clone -q . copy', {
    declared: { write: ['copy/**', 'copy/.git/config'] },
    asks: CONFIG,
    limit: 'a hard link to a file of the real tree has another inode number, which git refuses',
  }),
  git('submodules', 'git submodule status'),
  git('config', 'git config pull.rebase true', {
    declared: { write: ['.git/config'] },
    asks: CONFIG,
  }),
  git('remote', 'git remote add upstream https://example.org/shop.git', {
    declared: { write: ['.git/config'] },
    asks: CONFIG,
  }),
]
