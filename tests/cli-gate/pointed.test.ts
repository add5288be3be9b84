/** What configuration and links point to is asked about, though its own name says nothing (G-15a). */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { Place } from './place.ts'

let place: Place

// Each test is several processes, and each of them a sandbox.
vi.setConfig({ testTimeout: 120_000 })

beforeAll(() => {
  place = new Place('pointed', { runs: 'warm' }).init()
  prepare('rm -rf .git; git init -q .; git config user.email a@b; git config user.name a')
}, 180_000)

afterAll(() => place?.remove())

function prepare(script: string): void {
  execFileSync('bash', ['-ec', script], { cwd: place.project, env: place.env() })
}

/** Returns the paths that are asked about, relative to the project. */
function asked(script: string, env: Record<string, string> = {}): readonly string[] {
  const report = join(place.folder, 'report.json')
  const options = ['--write', '.', '--delete', '.', '--report', report]
  place.writ(['exec', ...options, '--', 'bash', '-ec', script], { env })
  const { result } = JSON.parse(readFileSync(report, 'utf8'))
  return result.findings
    .filter(({ code }: { code: string }) => code === 'effect.deferred_execution')
    .map(({ path }: { path: string }) => path.slice(place.project.length + 1))
}

describe('git', () => {
  it.each([
    [
      'a file below core.hooksPath',
      'git config core.hooksPath tools/h; mkdir -p tools/h',
      'tools/h/x',
    ],
    ['a file of the template', 'git config init.templateDir tpl; mkdir tpl', 'tpl/config'],
    ['an included file', 'git config include.path ../inc/extra; mkdir -p inc', 'inc/extra'],
    ['a program of a setting', 'git config core.fsmonitor "sh tools/watch.sh"', 'tools/watch.sh'],
    ['a program of an alias', "git config alias.up '!tools/up.sh'", 'tools/up.sh'],
    ['a program of a key that git has not yet', 'git config hook.x.command plain', 'plain'],
    [
      'a program after two sections in one line',
      `printf '[a][core "]"][core]fsmonitor=too"ls"/w' >> .git/config`,
      'tools/w',
    ],
    ['a word of a file that git refuses', 'printf "[core" > .git/config.worktree', '[core'],
    [
      'the target of a hook that is a link',
      'mkdir -p .git/hooks bin2; ln -sf ../../bin2/run .git/hooks/post-checkout',
      'bin2/run',
    ],
    [
      'the directory that commondir names',
      'mkdir -p other/hooks; echo ../other > .git/commondir',
      'other/config',
    ],
  ])('%s', (_, before, path) => {
    prepare(`cp -a .git .git-kept; ${before}`)
    try {
      expect(asked(`mkdir -p "$(dirname ${path})"; echo x > ${path}`)).toEqual([path])
    } finally {
      prepare('rm -rf .git; mv .git-kept .git')
    }
  })

  it('a bare repository in the tree, no matter its name', () => {
    const bare =
      'mkdir -p fix/objects fix/refs; echo ref: refs/heads/m > fix/HEAD; echo > fix/config'
    expect(asked(bare)).toEqual(['fix/HEAD', 'fix/config'])
  })

  it('but what is called as a person, a branch or an alias is not', () => {
    prepare('git config branch.b.remote b; git config alias.c commit; git config user.name a')
    expect(asked('for name in a b c commit; do echo x > $name; done')).toEqual([])
  })

  it('a branch and an index that bring a hook which no file shows', () => {
    prepare('git commit -q --allow-empty -m zero')
    const hook = 'mkdir -p .husky; echo x > .husky/pre-commit; git add .husky'
    expect(
      asked(`${hook}; git commit -qm docs; git rm -q --cached -r .husky; rm -r .husky`),
    ).toEqual([expect.stringMatching(/^\.git\/refs\/heads\//)])
    expect(asked(`${hook}; rm -r .husky`)).toEqual(['.git/index'])
    const { err } = place.writ(['exec', '--', 'sh', '-c', `${hook}; rm -r .husky`])
    expect(err).toContain('brings .husky/pre-commit')
    expect(place.writ(['replay', '--json']).json.differences).toEqual([])
  })

  it('but an ordinary commit is not', () => {
    expect(
      asked('echo a > a.txt; git add a.txt; git commit -qm one; git branch pre-commit'),
    ).toEqual([])
    expect(asked('echo HEAD > HEAD; echo x > config')).toEqual([])
  })
})

it('build configuration is promoted unasked, with a note', () => {
  const made = place.writ(['exec', '--write', '.', '--', 'sh', '-c', 'echo all: > Makefile'])
  expect(made, made.err).toMatchObject({ status: 0 })
  expect(place.has('Makefile')).toBe(true)
})

describe('others', () => {
  it('a package.json that becomes a link, and what one leads to', () => {
    expect(asked('mkdir -p m; echo "{}" > m/p.json; ln -s m/p.json package.json')).toEqual([
      'm/p.json',
      'package.json',
    ])
    prepare('mkdir -p sub/m; echo "{}" > sub/m/q.json; ln -s m/q.json sub/package.json')
    expect(asked('echo "{\\"scripts\\":{}}" > sub/m/q.json')).toEqual(['sub/m/q.json'])
  })

  it('what a dot link leads to', () => {
    prepare('mkdir -p tools/vs; ln -s tools/vs .vscode')
    expect(asked('echo "{}" > tools/vs/tasks.json')).toEqual(['tools/vs/tasks.json'])
  })

  it('a program among hooks, and not a source there', () => {
    const program = 'for name in update other; do echo x > lib/hooks/$name; done'
    const script = `mkdir -p lib/hooks; ${program}; chmod +x lib/hooks/*; echo x > lib/hooks/a.ts`
    expect(asked(script)).toEqual(['lib/hooks/other', 'lib/hooks/update'])
  })

  it.each([
    ['.claude/settings.json', '../real/claude.json', 'real/claude.json'],
    ['.github/workflows', '../ci', 'ci/build.yml'],
    ['.cursor/rules/r.mdc', '../../real/rule', 'real/rule'],
    ['pk/a/.vscode/tasks.json', '../../../conf/tasks.json', 'conf/tasks.json'],
    ['pk/a/package.json', '../../conf/a.json', 'conf/a.json'],
    ['pk/b/CLAUDE.md', '../../conf/step', 'conf/last'],
  ])('what the link %s leads to', (link, to, path) => {
    prepare('mkdir -p real ci conf pk/b; ln -sfn last conf/step')
    prepare(`mkdir -p $(dirname ${link}); ln -sfn ${to} ${link}`)
    expect(asked(`echo "{}" > ${path}; echo x > conf/other`)).toEqual([path])
  })

  it('a link on the way to a directory of the PATH', () => {
    prepare('mkdir -p one two; ln -s one mybin')
    const env = { PATH: `${place.project}/mybin:${process.env['PATH']}` }
    expect(asked('ln -sfn two mybin', env)).toEqual(['mybin'])
  })

  it('bytecode whose source did not change, and not the one that comes with its source', () => {
    mkdirSync(join(place.project, 'py'))
    prepare('echo "x = 1" > py/a.py')
    const compile = 'python3 -c "import py_compile,sys; py_compile.compile(sys.argv[1])"'
    expect(asked(`cd py; ${compile} a.py`)).toEqual([
      expect.stringMatching(/^py\/__pycache__\/a\..*\.pyc$/),
    ])
    expect(asked(`cd py; echo "y = 1" > b.py; ${compile} b.py`)).toEqual([])
  })
})
