/** Which files a command runs, in every spelling; and which spellings are refused instead of guessed. */
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Flow, FlowNode } from '../../contracts/index.ts'
import { namedBy } from './named-programs.ts'
import { programProblems, refuseUnpinned } from './program-problems.ts'
import { protectedPrograms } from './protected-programs.ts'
import { WorkspaceFiles } from './workspace-files.ts'

let root = ''

const FILES: Readonly<Record<string, string>> = {
  'tools/r.mjs': '',
  'tools/first.mjs': '',
  'tools/run': '#!/bin/sh\nnode tools/r.mjs\n',
  'tools/r.sh': '#!/bin/sh\ncd "$(dirname "$0")"\nexec node r.mjs "$1"\n',
  'tools/open.sh': '#!/bin/sh\n"$REVIEW" now\n',
  'tools/r.pl': 'use Judge;',
  'perl/Judge.pm': '1;',
  'py/judge/__main__.py': 'import rules',
  'py/judge/__init__.py': '',
  '.venv/bin/activate': '',
  'bin/judge': '#!/bin/sh\ntrue\n',
  'app/package.json':
    '{"name":"app","type":"module","scripts":{"judge":"node ./judge.mjs","prejudge":"sh pre.sh","loop":"npm run loop"},"imports":{"#rules":"./lib/rules.mjs","#part/*":{"node":"./lib/*.mjs"}},"exports":{"./own":"./lib/own.mjs"}}',
  'app/judge.mjs': "import '#rules'\nimport '#part/deep'\nimport 'app/own'\n",
  'app/pre.sh': 'true',
  'app/lib/rules.mjs': '',
  'app/lib/deep.mjs': '',
  'app/lib/own.mjs': '',
  'build/Makefile': 'include rules.mk\nNODE ?= node\nall: judge\nother:\n\t$(UNSET) x\n',
  'build/rules.mk': 'judge: before\n\t@cd ../tools && $(NODE) r.mjs\nbefore:\n\tsh ../tools/r.sh\n',
  'build/path.mk': 'export PATH := ../bin:$(PATH)\njudge:\n\tjudge\n',
  'build/shell.mk': 'SHELL = ../bin/judge\nx:\n\ttrue\n',
  'build/open.mk': 'judge:\n\t$(REVIEW) x\n',
  'tools/starts.mjs':
    "import { spawnSync } from 'node:child_process'\nspawnSync('sh', ['tools/r.sh'])\nspawnSync(process.argv[2])\n",
  'tools/starts.py': "import subprocess\nsubprocess.run(['sh', 'tools/r.sh'])\n",
}

beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'writ-named-')))
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
    if (text.startsWith('#!')) chmodSync(join(root, path), 0o755)
  }
})

afterAll(() => rmSync(root, { recursive: true, force: true }))

function reviewer(command: readonly string[], programs?: readonly string[]): FlowNode {
  const runner = {
    command: [...command],
    ...(programs === undefined ? {} : { programs: [...programs] }),
  }
  const node = { node_id: 'c', kind: 'CHECK' as const, title: '', phase_id: 'P', actor: 'a' }
  return { ...node, max_attempts: 1, reviewer: runner }
}

function flowOf(...nodes: readonly FlowNode[]): Flow {
  return { type: 'flow_v1', flow_id: 'f', title: '', nodes: [...nodes], edges: [] }
}

const around = () => ({ workspace: root, environment: {}, searchPath: '/usr/bin:/bin' })

function judged(node: FlowNode) {
  const named = namedBy(new WorkspaceFiles(root), node.reviewer, [])
  const { pins, sealed } = protectedPrograms(new WorkspaceFiles(root), flowOf(node), '')
  return { named, sealed, pinned: pins.map(({ path }) => path) }
}

const shell = (text: string): readonly string[] => ['sh', '-c', text]

describe('every spelling of a command pins what it runs', () => {
  it.each<[readonly string[], readonly string[]]>([
    [shell('cd tools && node r.mjs'), ['tools/r.mjs']],
    [
      shell('cd app; (cd ../tools; node first.mjs) | cat; node judge.mjs'),
      ['tools/first.mjs', 'app/judge.mjs'],
    ],
    [shell('if true; then D=tools; node "$D/r.mjs"; fi'), ['tools/r.mjs']],
    [
      shell('x=$(node tools/first.mjs) && exec timeout 5 node tools/r.mjs'),
      ['tools/first.mjs', 'tools/r.mjs'],
    ],
    [
      ['bash', '-euo', 'pipefail', '-c', 'cd tools\nnode r.mjs <<EOF\nnode nothing.mjs\nEOF\n'],
      ['tools/r.mjs'],
    ],
    [['env', '-C', 'tools', 'node', 'r.mjs'], ['tools/r.mjs']],
    [['env', '--chdir=tools', 'X=1', 'node', 'r.mjs'], ['tools/r.mjs']],
    [['env', '-S', 'X=1 node tools/r.mjs'], ['tools/r.mjs']],
    [['env', 'PATH=bin:/usr/bin', 'judge'], ['bin/judge']],
    [shell('PATH=$PWD/bin:$PATH judge'), ['bin/judge']],
    [
      ['make', '-C', 'build', 'judge'],
      ['build/Makefile', 'build/rules.mk', 'tools/r.mjs', 'tools/r.sh'],
    ],
    [
      ['make', '-f', 'rules.mk', '-Cbuild', 'before'],
      ['build/rules.mk', 'tools/r.sh'],
    ],
    [
      ['npm', '--prefix', 'app', 'run', 'judge'],
      ['app/judge.mjs', 'app/pre.sh', 'app/lib/rules.mjs'],
    ],
    [
      ['npm', '-C', 'app', 'run', 'judge'],
      ['app/judge.mjs', 'app/lib/deep.mjs'],
    ],
    [
      ['pnpm', '--dir=app', 'judge'],
      ['app/judge.mjs', 'app/lib/own.mjs'],
    ],
    [
      ['yarn', '--cwd', 'app', 'judge'],
      ['app/judge.mjs', 'app/package.json'],
    ],
    [shell('cd app && npm run -s judge'), ['app/judge.mjs', 'app/pre.sh']],
    [shell('PYTHONPATH=py python3 -m judge'), ['py/judge/__main__.py', 'py/judge/__init__.py']],
    [
      ['perl', '-I', 'perl', 'tools/r.pl'],
      ['tools/r.pl', 'perl/Judge.pm'],
    ],
    [['perl', '-Iperl', '-MJudge', '-e', '1'], ['perl/Judge.pm']],
    [
      ['node', '--require', './tools/first.mjs', 'tools/r.mjs'],
      ['tools/first.mjs', 'tools/r.mjs'],
    ],
    [
      ['node', '--import=./tools/first.mjs', 'tools/r'],
      ['tools/first.mjs', 'tools/r.mjs'],
    ],
    [['node', '--loader', './tools/first.mjs', '/opt/r.mjs'], ['tools/first.mjs']],
    [['env', 'NODE_OPTIONS=--import ./tools/first.mjs', 'node', '/opt/r.mjs'], ['tools/first.mjs']],
    [
      ['env', 'NODE_PATH=perl', 'node', 'tools/r.mjs'],
      ['tools/r.mjs', 'perl/Judge.pm'],
    ],
    [
      ['sh', 'tools/r.sh', 'x'],
      ['tools/r.sh', 'tools/r.mjs'],
    ],
    [
      ['nice', '-n', '5', './tools/run'],
      ['tools/run', 'tools/r.mjs'],
    ],
    [['make', '-C', 'build', '-f', 'path.mk'], ['bin/judge']],
    [['make', '-C', 'build', '-f', 'shell.mk'], ['bin/judge']],
    [shell('if [ -f x ] && [[ -f y ]]; then node tools/r.mjs; fi'), ['tools/r.mjs']],
    [shell('. .venv/bin/activate && python3 -m judge'), []],
    [['java', '-cp', 'perl', 'Judge'], ['perl/Judge.pm']],
    [['find', '.', '-exec', 'node', 'tools/r.mjs', '{}', ';'], ['tools/r.mjs']],
  ])('%j', (command, files) => {
    const { named, pinned } = judged(reviewer(command))
    expect(named?.unfound).toEqual([])
    expect(pinned).toEqual(expect.arrayContaining([...files]))
  })

  it('and what the names of its manifest lead to', () => {
    const { reviewer: executor, ...rest } = reviewer(['node', 'app/judge.mjs'])
    const work: FlowNode = { ...rest, kind: 'WORK', ...(executor && { executor }) }
    const { pins } = protectedPrograms(new WorkspaceFiles(root), flowOf(work), '')
    expect(pins.map(({ path }) => path)).toEqual([
      'app/judge.mjs',
      'app/lib/deep.mjs',
      'app/lib/own.mjs',
      'app/lib/rules.mjs',
    ])
  })

  it('and seals the directories that modules are looked for in', () => {
    const { sealed } = judged(reviewer(shell('cd app && PERL5LIB=../perl perl ../tools/r.pl')))
    expect(sealed).toContain('perl/**')
    expect(judged(reviewer(['npm', '-C', 'app', 'run', 'judge'])).sealed).toContain(
      'app/package.json',
    )
  })
})

describe('a command that cannot be followed is refused', () => {
  it.each<[readonly string[], RegExp]>([
    [shell('"$REVIEW" x'), /name is known only when it runs/],
    [shell('cd "$DIR" && node r.mjs'), /directory that is known only when it runs/],
    [shell('cd tools || cd other; node r.mjs'), /directory that is known only when it runs/],
    [shell('node "$X.mjs"'), /which is known only when it runs/],
    [
      shell('if test -f x; then cd tools; fi; node r.mjs'),
      /directory that is known only when it runs/,
    ],
    [shell('D=tools; test -f x && D=app; node $D/r.mjs'), /known only when it runs/],
    [shell('read D; node $D/r.mjs'), /known only when it runs/],
    [shell('. ./tools/r.sh; judge'), /known only when it runs/],
    [['vitest', 'run'], /that `vitest` runs/],
    [shell('eval "$X"'), /name is known only when it runs/],
    [shell('PYTHONPATH=$X python3 -m judge'), /known only when it runs/],
    [shell('cat tools/r.mjs | node'), /reads its program from its input/],
    [['sh', '-s'], /reads its program from its input/],
    [['node', 'out/r.mjs'], /`out\/r\.mjs` is not there/],
    [['./out/judge'], /out\/judge.* is not there/],
    [['python3', '-m', 'pytest'], /that `pytest` runs/],
    [['npm', 'run', 'nothing'], /that `npm` runs/],
    [['npm', '-C', 'app', 'run', 'loop'], /starts itself/],
    [['make', '-C', 'build', 'other'], /name is known only when it runs/],
    [['make', '-C', 'build', '-f', 'open.mk'], /name is known only when it runs/],
    [['cargo', 'test'], /that `cargo` runs/],
    [['find', 'out', '-exec', 'node', '{}', ';'], /known only when it runs/],
  ])('%j', (command, says) => {
    const node = reviewer(command)
    expect(judged(node).named?.unfound.join('; ')).toMatch(says)
    expect(() => refuseUnpinned([node], around())).toThrow(says)
    const named = reviewer(command, ['tools', 'perl/*.pm'])
    expect(() => refuseUnpinned([named], around())).not.toThrow()
    expect(judged(named).pinned).toEqual(expect.arrayContaining(['tools/r.mjs', 'perl/Judge.pm']))
    expect(judged(named).sealed).toEqual(expect.arrayContaining(['tools/**', 'perl/*.pm']))
  })

  it('for a reviewer with an error of the check, for an executor with a warning', () => {
    const judge = reviewer(shell('"$REVIEW" x'))
    const { reviewer: executor, ...rest } = judge
    const work: FlowNode = { ...rest, node_id: 'w', kind: 'WORK', ...(executor && { executor }) }
    const { violations, warnings } = programProblems(flowOf(work, judge), around())
    expect(violations.map(({ code, path }) => [code, path])).toEqual([
      ['flow.program_unpinned', '/nodes/1/reviewer'],
    ])
    expect(warnings.map(({ code, path }) => [code, path])).toEqual([
      ['flow.program_unpinned', '/nodes/0/executor'],
    ])
    expect(() => refuseUnpinned([work], around())).not.toThrow()
  })
})

describe('the check of a flow', () => {
  it.each([
    [['node', 'tools/nothing.mjs'], 'tools/nothing.mjs'],
    [['./tools/nothing'], 'tools/nothing'],
  ])('names a file that is not there: %j', (command, path) => {
    const { violations } = programProblems(flowOf(reviewer(command)), around())
    expect(violations).toMatchObject([{ code: 'flow.program_missing', path: '/nodes/0/reviewer' }])
    expect(violations[0]?.message).toContain(path)
    expect(violations[0]?.hint).toContain('writ flow check --workspace DIR')
  })

  it('says how a file becomes a program that can be started', () => {
    const { violations } = programProblems(flowOf(reviewer(['tools/r.mjs'])), around())
    expect(violations).toMatchObject([{ code: 'flow.program_missing' }])
    expect(violations[0]?.message).toContain('`tools/r.mjs` is not executable')
    expect(violations[0]?.hint).toContain(`chmod +x ${join(root, 'tools/r.mjs')}`)
  })

  it('names an entry of `programs` that nothing in the workspace is', () => {
    const node = reviewer(['node', 'tools/r.mjs'], ['tools/r.mjs', 'nothing/*.py'])
    const { violations } = programProblems(flowOf(node), around())
    expect(violations.map(({ code }) => code)).toEqual(['flow.program_missing'])
    expect(violations[0]?.message).toContain('nothing/*.py')
  })

  it.each([
    [['node', 'tools/starts.mjs', 'x'], /child_process.*tools\/starts\.mjs:1/],
    [['python3', 'tools/starts.py'], /subprocess.*tools\/starts\.py:1/],
    [['sh', 'tools/open.sh'], /name is known only when it runs \(tools\/open\.sh:2\)/],
  ])('warns of what scripts of a reviewer start: %j', (command, says) => {
    const { violations, warnings } = programProblems(flowOf(reviewer(command)), around())
    const told = warnings.filter(({ code }) => code === 'flow.reviewer_open')
    expect([violations, told.length]).toEqual([[], 1])
    expect(told[0]?.message).toMatch(says)
  })
})
