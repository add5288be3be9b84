/** Which files of a workspace count as parts of participants, by their commands. */
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { faultCode } from '../../base/index.ts'
import { type Flow, type FlowNode, matchesPath, parseGlob } from '../../contracts/index.ts'
import { openWork, programProblems } from './program-problems.ts'
import { protectedPrograms } from './protected-programs.ts'
import { RunPrograms } from './run-programs.ts'
import { WorkspaceFiles } from './workspace-files.ts'

let root = ''

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'writ-programs-')))
})

afterEach(() => rmSync(root, { recursive: true, force: true }))

function write(path: string, text = '', mode = 0o644): void {
  const file = join(root, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  chmodSync(file, mode)
}

function nodeOf(kind: 'WORK' | 'CHECK', command: readonly string[], more: Partial<FlowNode> = {}) {
  const runner = { command: [...command] }
  const node = { node_id: kind, kind, title: '', phase_id: 'P', actor: 'a', max_attempts: 1 }
  return { ...node, ...(kind === 'CHECK' ? { reviewer: runner } : { executor: runner }), ...more }
}

function found(nodes: readonly FlowNode[], searchPath = '/usr/bin:/bin') {
  const flow: Flow = { type: 'flow_v1', flow_id: 'f', title: '', nodes: [...nodes], edges: [] }
  const all = protectedPrograms(new WorkspaceFiles(root), flow, searchPath)
  const isSealed = (path: string): boolean =>
    all.sealed.some((pattern) => {
      const glob = parseGlob(`/${pattern}`)
      return glob !== null && matchesPath(glob, `/${path}`)
    })
  return { ...all, isSealed, pinned: all.pins.map(({ path }) => path) }
}

function reviewedBy(...command: readonly string[]) {
  return found([nodeOf('CHECK', command)])
}

describe('programs that a command names', () => {
  it.each<[string, readonly string[], readonly string[]]>([
    ['a script', ['node', 'agents/r.mjs'], ['agents/r.mjs']],
    ['by its full path', ['node', '$ROOT/agents/r.mjs'], ['agents/r.mjs']],
    ['as a program', ['./agents/run'], ['agents/run']],
    ['behind a sign', ['node', '--import=./agents/r.mjs', 'x'], ['agents/r.mjs']],
    ['in a shell text', ['sh', '-c', 'cd . && exec node "agents/r.mjs"; true'], ['agents/r.mjs']],
    ['as a directory', ['node', 'agents/dir'], ['agents/dir/index.js']],
    ['as a module of Python', ['python3', '-m', 'agents.check'], ['agents/check.py']],
    ['in a text of Node', ['node', '-e', "import('./agents/r.mjs')"], ['agents/r.mjs']],
  ])('%s', (_, command, programs) => {
    write('agents/r.mjs')
    write('agents/run', '#!/bin/sh\n', 0o755)
    write('agents/dir/index.js')
    write('agents/check.py')
    write('tool.py')
    write('package.json', '{"scripts":{"judge":"node agents/r.mjs","other":"node tool.py"}}')
    write('Makefile', 'judge:\n\tagents/run\n')
    const said = command.map((word) => word.replace('$ROOT', root))
    const { programs: named } = found([nodeOf('CHECK', said)])
    expect(named.map(({ path }) => path)).toEqual(expect.arrayContaining([...programs]))
    expect(named.map(({ path }) => path)).not.toContain('package.json')
  })

  it('that lie outside the workspace, or are not there, are none', () => {
    expect(reviewedBy('node', '/usr/share/r.mjs', 'nothing.mjs').programs).toEqual([])
  })

  it('from a directory of the search path inside the workspace', () => {
    write('bin/judge', '#!/bin/sh\n', 0o755)
    const { programs, isSealed } = found([nodeOf('CHECK', ['judge'])], `${root}/bin:/usr/bin`)
    expect(programs.map(({ path }) => path)).toEqual(['bin/judge'])
    expect(isSealed('bin/node')).toBe(true)
  })
})

const [A, DEEP] = ["'../shared/a.mjs'", "'./deep.mjs'"]

describe('what is sealed', () => {
  it('for a reviewer: its directory, what it imports, manifests and packages up to the root', () => {
    write('tools/agents/r.mjs', `import { a } from ${A}\nconst b = require('../../b')`)
    write('tools/shared/a.mjs', `export * from ${DEEP}`)
    write('tools/shared/deep.mjs')
    write('b.js')
    write('tools/package.json', '{}')
    const { isSealed, pinned } = reviewedBy('node', 'tools/agents/r.mjs')
    expect(pinned).toEqual([
      'b.js',
      'tools/agents/r.mjs',
      'tools/package.json',
      'tools/shared/a.mjs',
      'tools/shared/deep.mjs',
    ])
    for (const path of [
      'tools/agents/new.txt',
      'tools/agents/prompts/a/b.md',
      'tools/node_modules/x/index.js',
      'node_modules/x',
      'package-lock.json',
      'tools/.npmrc',
      'tsconfig.build.json',
      'b',
      'b/index.js',
      'CLAUDE.md',
    ])
      expect([path, isSealed(path)]).toEqual([path, true])
    for (const path of ['src/index.js', 'tools/other.md', 'README.md', 'tools/shared/new.md'])
      expect([path, isSealed(path)]).toEqual([path, false])
  })

  it('for a reviewer in the root: code there, and packages of Python, and nothing else of work', () => {
    write('r.py', 'import rules, os\nfrom lib.more import x\n')
    write('rules.py')
    write('lib/more.py')
    const { isSealed, pinned } = reviewedBy('python3', 'r.py')
    expect(pinned).toEqual(['lib/more.py', 'r.py', 'rules.py'])
    for (const path of ['enum.py', 'enum/__init__.py', 'lib/new.py', '__pycache__/r.pyc'])
      expect([path, isSealed(path)]).toEqual([path, true])
    for (const path of ['README.md', 'data.json', 'src/app.py', 'out/x.js'])
      expect([path, isSealed(path)]).toEqual([path, false])
  })

  it('for a reviewer in the root: files there when the run begins, unless a node declares them', () => {
    for (const path of [
      'r.py',
      'rules.json',
      'notes.md',
      'need.csv',
      'orchestration_log.md',
      'in/x.json',
    ])
      write(path)
    write('large.csv', 'x'.repeat(4 * 1024 * 1024 + 1))
    symlinkSync('in/x.json', join(root, 'link.json'))
    const judge = nodeOf('CHECK', ['python3', 'r.py'])
    const work = nodeOf('WORK', ['true'], { writes: ['*.md'], required_files: ['need.csv'] })
    const { isSealed, rootFiles, readOnly } = found([work, judge])
    expect([rootFiles, readOnly.includes('rules.json')]).toEqual([['rules.json'], true])
    for (const path of ['notes.md', 'need.csv', 'new.json', 'large.csv', 'in/x.json', 'link.json'])
      expect([path, isSealed(path)]).toEqual([path, false])
    // A run that goes on seals what it began with, and a person may change that.
    const flow: Flow = { type: 'flow_v1', flow_id: 'f', title: '', nodes: [judge], edges: [] }
    const programs = new RunPrograms(flow, root, '')
    const { pins } = programs.pin()
    write('rules.json', '{"changed":true}')
    write('made.json')
    expect(programs.changed()).toEqual([])
    const pinned = new Set((pins ?? []).map(({ path }) => path))
    const later = protectedPrograms(new WorkspaceFiles(root), flow, '', pinned)
    expect(later.rootFiles).toEqual(['need.csv', 'notes.md', 'rules.json'])
  })

  it('for a reviewer: what makes git run programs, in every repository', () => {
    write('agents/r.mjs')
    write('.git/config')
    const { isSealed, readOnly } = reviewedBy('node', 'agents/r.mjs')
    expect(readOnly).toContain('.git/config')
    for (const path of [
      ...['.git/config', '.git/hooks/pre-commit', '.git/info/attributes', '.git/commondir'],
      ...['sub/.git', 'sub/.git/config', '.git/modules/a/config', '.git/worktrees/w/commondir'],
      ...['.git/modules/a/hooks/post-checkout', '.git/config.worktree'],
    ])
      expect([path, isSealed(path)]).toEqual([path, true])
    for (const path of ['.git/index', '.git/refs/heads/x', '.git/objects/aa/bb', '.gitattributes'])
      expect([path, isSealed(path)]).toEqual([path, false])
    expect(found([nodeOf('WORK', ['node', 'w.mjs'])]).isSealed('.git/config')).toBe(false)
  })

  it('for an executor: its program and what that imports, and neither packages nor its directory', () => {
    write('work/w.mjs', "import './helper.mjs'")
    write('work/helper.mjs')
    const { isSealed, pinned } = found([nodeOf('WORK', ['node', 'work/w.mjs'])])
    expect(pinned).toEqual(['work/helper.mjs', 'work/w.mjs'])
    for (const path of ['work/out.txt', 'package.json', 'node_modules/x'])
      expect([path, isSealed(path)]).toEqual([path, false])
  })

  it('other files that a reviewer is handed, unless a node declares them as work', () => {
    write('prompt.md')
    write('out/report.md')
    write('agents/r.mjs')
    const judge = nodeOf('CHECK', ['node', 'agents/r.mjs', 'prompt.md', 'out/report.md'])
    expect(found([judge]).pinned).toContain('out/report.md')
    const work = nodeOf('WORK', ['true'], { writes: ['out/**'] })
    expect(found([work, judge]).pinned).toEqual(['agents/r.mjs', 'prompt.md'])
    const needed = nodeOf('WORK', ['true'], { required_files: ['out/report.md'] })
    expect(found([needed, judge]).isSealed('out/report.md')).toBe(false)
  })

  it('of a run that goes on, no file that work has made since', () => {
    write('agents/r.mjs')
    write('out/report.md')
    const nodes = [nodeOf('CHECK', ['node', 'agents/r.mjs', 'out/report.md'])]
    const flow: Flow = { type: 'flow_v1', flow_id: 'f', title: '', nodes, edges: [] }
    const pinned = new Set(['agents/r.mjs'])
    const { pins } = protectedPrograms(new WorkspaceFiles(root), flow, '', pinned)
    expect(pins.map(({ path }) => path)).toEqual(['agents/r.mjs'])
  })

  it('links that lead to a program, and where they lead', () => {
    write('real/r.mjs')
    symlinkSync('real', join(root, 'agents'))
    const { isSealed, readOnly } = reviewedBy('node', 'agents/r.mjs')
    for (const path of ['agents', 'real/r.mjs', 'real/new.mjs', 'agents/r.mjs'])
      expect([path, isSealed(path)]).toEqual([path, true])
    expect(readOnly).not.toContain('agents')
  })

  it('a package of the workspace that a reviewer imports through a link', () => {
    write('agents/r.mjs', "import judge from 'judge'")
    write('packages/judge/index.js')
    mkdirSync(join(root, 'node_modules'))
    symlinkSync('../packages/judge', join(root, 'node_modules/judge'))
    const { isSealed, pinned } = reviewedBy('node', 'agents/r.mjs')
    expect(pinned).toContain('packages/judge/index.js')
    expect(isSealed('packages/judge/lib/new.js')).toBe(true)
    expect(isSealed('packages/app/index.js')).toBe(false)
  })

  it('installed packages that a reviewer imports, with those that they need, as they are', () => {
    write('agents/r.mjs', "import judge from 'good/sub'\nimport 'node:fs'\nimport 'fs'")
    write('node_modules/good/package.json', '{"dependencies":{"@s/deep":"1"}}')
    write('node_modules/good/sub.js', '1')
    write('node_modules/@s/deep/lib/index.js', '1')
    write('node_modules/other/index.js', '1')
    write('node_modules/tool/bin.js', '1')
    mkdirSync(join(root, 'node_modules/.bin'))
    symlinkSync('../tool/bin.js', join(root, 'node_modules/.bin/tool'))
    const nodes = [
      nodeOf('CHECK', ['node', 'agents/r.mjs']),
      nodeOf('CHECK', ['node', 'node_modules/.bin/tool']),
    ]
    const { pinned } = found(nodes)
    const packages = ['node_modules/good', 'node_modules/@s/deep', 'node_modules/tool']
    expect(pinned).toEqual(expect.arrayContaining(packages))
    expect(pinned).not.toContain('node_modules/other')
    const flow: Flow = { type: 'flow_v1', flow_id: 'f', title: '', nodes, edges: [] }
    const programs = new RunPrograms(flow, root, '/usr/bin:/bin')
    programs.pin()
    expect(programs.changed()).toEqual([])
    write('node_modules/@s/deep/lib/index.js', '2')
    expect(programs.changed()).toEqual(['node_modules/@s/deep'])
    write('node_modules/@s/deep/lib/index.js', '1')
    write('node_modules/good/new.js', '1')
    expect(programs.changed()).toEqual(['node_modules/good'])
    rmSync(join(root, 'node_modules/good/new.js'))
    // Found before the one that was pinned.
    write('agents/node_modules/good/index.js', '2')
    expect(programs.changed()).toEqual(['agents/node_modules/good'])
  })

  it('what Python finds in an environment of the workspace', () => {
    const packages = '.venv/lib/python3.12/site-packages'
    write('agents/r.py', 'import judge\nfrom one import two\n')
    write(`${packages}/judge/__init__.py`, '1')
    write(`${packages}/one.py`, '1')
    write(`${packages}/x.pth`, '1')
    write(`${packages}/other/__init__.py`, '1')
    const { pinned } = reviewedBy('python3', 'agents/r.py')
    for (const name of ['judge', 'one.py', 'x.pth']) expect(pinned).toContain(`${packages}/${name}`)
    expect(pinned).not.toContain(`${packages}/other`)
  })

  it.each<[string, object, boolean]>([
    ['with a secret', { secrets: ['KEY'] }, true],
    ['that reaches a host', { egress: ['api.example'] }, true],
    ['without either', {}, false],
  ])('what Python finds first, for an executor %s', (_, more, isSealed) => {
    write('tools/send.py', 'import json')
    write('tools/run.mjs', "import 'dep'")
    write('node_modules/dep/index.js')
    for (const program of ['tools/send.py', 'tools/run.mjs']) {
      const executor = { command: [program.endsWith('.py') ? 'python3' : 'node', program], ...more }
      const all = found([{ ...nodeOf('WORK', []), executor }])
      const paths = program.endsWith('.py')
        ? ['tools/re.py', 'tools/enum.pyc', 'tools/enum.abi3.so', 'tools/enum/__init__.py']
        : ['node_modules/dep/index.js']
      for (const path of paths) expect([path, all.isSealed(path)]).toEqual([path, isSealed])
      expect(all.isSealed('tools/data.json')).toBe(false)
    }
  })

  it('nothing for participants that are no programs here', () => {
    const person = { ...nodeOf('CHECK', ['x']), reviewer: { human: 'ann' } }
    const { sealed, pins } = found([person])
    expect([sealed, pins]).toEqual([[], []])
  })
})

describe('what a reviewer loads in other ways', () => {
  it.each<[string, readonly string[], Readonly<Record<string, string>>, readonly string[]]>([
    [
      'packages and manifests next to what it imports',
      ['node', 'agents/r.mjs'],
      { 'agents/r.mjs': "import '../lib/judge.mjs'", 'lib/judge.mjs': '' },
      ['lib/node_modules/good/index.js', 'lib/package.json'],
    ],
    [
      'a module behind a comment',
      ['node', 'agents/r.mjs'],
      { 'agents/r.mjs': "await import(/* @vite-ignore */ '../lib/a.mjs')", 'lib/a.mjs': '' },
      ['lib/a.mjs'],
    ],
    [
      'a package of Python that hides a module',
      ['python3', 'agents/r.py'],
      { 'agents/r.py': 'import sys; import rules', 'rules.py': '' },
      ['rules.py', 'rules/__init__.py', 'rules/deep/a.py', 'sys.py'],
    ],
    [
      'a module of Python that is not there',
      ['python3', 'agents/r.py'],
      { 'agents/r.py': 'try: from local_rules import good\nexcept ImportError: pass\n' },
      ['local_rules.py', 'local_rules/__init__.py', 'local_rules.cpython-312.so'],
    ],
    [
      'modules of Python by a call, and of the directory above',
      ['python3', 'agents/in/r.py'],
      { 'agents/in/r.py': "from .. import a, b\nimportlib.import_module('lib.c')" },
      ['agents/b.py', 'lib/c.py'],
    ],
    [
      'hooks and settings that the settings of git name',
      ['sh', 'agents/r.sh'],
      {
        'agents/r.sh': '',
        '.git/config':
          '[core]\n\thooksPath = .myhooks\n\tfsmonitor = tools/watch.sh\n[include]\n\tpath = ../team.gitconfig\n',
        'team.gitconfig': '[include]\n\tpath = "more.gitconfig"\n',
        'tools/watch.sh': '',
      },
      ['.myhooks/post-index-change', 'team.gitconfig', 'more.gitconfig', 'tools/watch.sh'],
    ],
  ])('%s', (_, command, texts, sealed) => {
    for (const [path, text] of Object.entries(texts)) write(path, text)
    const { isSealed, unpinned } = reviewedBy(...command)
    expect(unpinned).toEqual([])
    expect(sealed.filter((path) => !isSealed(path))).toEqual([])
    for (const path of ['src/out.txt', 'README.md', 'sys/notes.md', 'src/app.py'])
      expect([path, isSealed(path)]).toEqual([path, false])
  })

  it('what links in its directory lead to', () => {
    write('agents/r.mjs')
    write('config/rules.json')
    write('more/deep/a.txt')
    symlinkSync('../config/rules.json', join(root, 'agents/rules.json'))
    symlinkSync('../more', join(root, 'agents/more'))
    symlinkSync('../nothing', join(root, 'agents/absent'))
    const { isSealed, pinned } = reviewedBy('node', 'agents/r.mjs')
    expect(pinned).toEqual(expect.arrayContaining(['config/rules.json', 'more/deep/a.txt']))
    expect(['more/new.txt', 'nothing'].map(isSealed)).toEqual([true, true])
  })
})

describe('warnings of a check', () => {
  const warned = (nodes: readonly FlowNode[]) => {
    const flow: Flow = { type: 'flow_v1', flow_id: 'f', title: '', nodes: [...nodes], edges: [] }
    const around = { workspace: root, environment: {}, searchPath: '/usr/bin:/bin' }
    const { violations, warnings } = programProblems(flow, around)
    return [...violations, ...warnings].map(({ code, path }) => [code, path])
  }

  it('name what a node declares to write, and who lies in the root', () => {
    write('agents/r.mjs')
    write('r.mjs', '//')
    const judge = nodeOf('CHECK', ['node', 'agents/r.mjs'])
    const work = nodeOf('WORK', ['true'], { writes: ['out/**', 'agents/**'] })
    expect(warned([work, judge])).toEqual([['flow.program_writable', '/nodes/0/writes/1']])
    expect(warned([nodeOf('CHECK', ['node', 'r.mjs'])])).toEqual([
      ['flow.program_in_root', '/nodes/0/reviewer'],
    ])
  })

  it('name work without `writes` that a command judges', () => {
    const judge = nodeOf('CHECK', ['judge'], { target: 'WORK' })
    const opened = (work: FlowNode, check: FlowNode = judge, isPlan = false) =>
      openWork(
        { type: 'flow_v1', flow_id: 'f', title: '', nodes: [work, check], edges: [] },
        isPlan,
      )
    const work = nodeOf('WORK', ['true'], { required_files: ['a.md'] })
    expect(opened(work)).toMatchObject([{ code: 'flow.program_writable', path: '/nodes/0' }])
    expect(opened(work)[0]?.hint).toContain('writes: ["a.md"]')
    expect(opened({ ...work, writes: ['a.md'] })).toEqual([])
    expect(opened(work, judge, true)).toMatchObject([{ code: 'flow.program_writable', path: '' }])
    expect(opened(work, judge, true)[0]?.hint).toContain('writ flow export PLAN')
    expect(opened(work, { ...judge, reviewer: { human: 'ann' } })).toEqual([])
  })

  it('name a program that judges itself under another declaration', () => {
    write('agents/r.mjs', '// one')
    write('work/w.mjs', '// one')
    const work = nodeOf('WORK', ['node', 'work/w.mjs'])
    const judge = nodeOf('CHECK', ['node', 'agents/r.mjs', '--judge'], { target: 'WORK' })
    expect(warned([work, judge])).toEqual([['flow.same_participant', '/nodes/1/reviewer']])
    write('work/w.mjs', '// two')
    expect(warned([work, judge])).toEqual([])
  })
})

it('a reviewer whose directory has more files than can be pinned is refused', () => {
  write('tools/review.mjs')
  for (let count = 0; count < 5_001; count++) writeFileSync(join(root, 'tools', `${count}.mjs`), '')
  expect(() => reviewedBy('node', 'tools/review.mjs')).toThrow(/has more than 5000 files/)
  try {
    reviewedBy('node', 'tools/review.mjs')
  } catch (error) {
    expect(faultCode(error)).toBe('flow.program_large')
  }
})
