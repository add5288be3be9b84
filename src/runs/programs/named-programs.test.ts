/** Which files a command names, and what the check of a flow says about them. */
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Flow, FlowNode } from '../../contracts/index.ts'
import { namedBy } from './named-programs.ts'
import { programProblems } from './program-problems.ts'
import { protectedPrograms } from './protected-programs.ts'
import { WorkspaceFiles } from './workspace-files.ts'

let root = ''

const FILES: Readonly<Record<string, string>> = {
  'tools/r.mjs': '',
  'tools/first.mjs': '',
  'tools/plain': 'cd tools\nnode r.mjs\nnode ../shared/s.mjs\n',
  'tools/r.sh': '#!/bin/sh\ncd "$(dirname "$0")"\nexec node r.mjs "$1"\n',
  'tools/r.pl': 'use Judge;',
  'shared/s.mjs': '',
  'perl/Judge.pm': '1;',
  'py/judge/__main__.py': 'import rules',
  'py/judge/__init__.py': '',
  'bin/judge': '#!/bin/sh\nnode tools/r.mjs && sh bin/more.sh\n',
  'bin/more.sh': 'node ../tools/first.mjs\n',
  'app/package.json':
    '{"name":"app","type":"module","imports":{"#rules":"./lib/rules.mjs","#part/*":{"node":"./lib/*.mjs"}},"exports":{"./own":"./lib/own.mjs"}}',
  'app/judge.mjs': "import '#rules'\nimport '#part/deep'\nimport 'app/own'\n",
  'app/index.js': '',
  'app/lib/rules.mjs': '',
  'app/lib/deep.mjs': '',
  'app/lib/own.mjs': '',
  'build/judge.mk': 'judge:\n\tnode ../tools/r.mjs\n',
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

describe('a command pins what its words name', () => {
  it.each<[readonly string[], readonly string[]]>([
    [shell('cd tools && node r.mjs'), ['tools/r.mjs']],
    [['env', '-C', 'tools', 'node', 'r.mjs'], ['tools/r.mjs']],
    [['env', 'X=1', 'timeout', '5', 'node', 'tools/r.mjs'], ['tools/r.mjs']],
    [['make', '-C', 'build', '-f', 'judge.mk'], ['build/judge.mk']],
    [['npm', '--prefix', 'app', 'run', 'judge'], ['app/package.json']],
    [
      ['python3', '-m', 'py.judge'],
      ['py/judge/__main__.py', 'py/judge/__init__.py'],
    ],
    [['perl', '-Iperl', 'tools/r.pl'], ['tools/r.pl']],
    [
      ['node', '--import=./tools/first.mjs', 'tools/r'],
      ['tools/first.mjs', 'tools/r.mjs'],
    ],
    [
      ['sh', 'tools/r.sh', 'x'],
      ['tools/r.sh', 'tools/r.mjs'],
    ],
    [
      ['bash', 'tools/plain'],
      ['tools/plain', 'tools/r.mjs'],
    ],
    [
      ['nice', '-n', '5', './bin/judge'],
      ['bin/judge', 'tools/r.mjs', 'tools/first.mjs'],
    ],
    [['node', 'app'], ['app/index.js']],
  ])('%j', (command, files) => {
    const { named, pinned } = judged(reviewer(command))
    expect(named?.isUnfound).toBe(command[0] === 'make' || command[0] === 'npm')
    expect(pinned).toEqual(expect.arrayContaining([...files]))
  })

  it('but no code that a script names and a node declares as its work', () => {
    const { node_id: _, ...rest } = reviewer(['true'])
    const judge = reviewer(['bash', 'tools/plain'])
    const work: FlowNode = { ...rest, node_id: 'w', kind: 'WORK', writes: ['tools/r.mjs'] }
    const files = new WorkspaceFiles(root)
    const isSealed = (...nodes: readonly FlowNode[]): boolean =>
      protectedPrograms(files, flowOf(...nodes), '').sealed.includes('shared/s.mjs')
    expect(isSealed(judge)).toBe(true)
    expect(isSealed({ ...work, writes: ['shared/**'] }, judge)).toBe(false)
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
})

describe('a command that names no file', () => {
  it.each<[readonly string[], boolean]>([
    [shell('"$REVIEW" x'), true],
    [['vitest', 'run'], true],
    [['python3', '-m', 'pytest'], true],
    [['sh', '-s'], true],
    [['node', 'out/r.mjs'], true],
    [['node', '/opt/r.mjs'], false],
    [['claude', '-p', 'x'], false],
    [['jq', '.'], false],
  ])('%j', (command, isUnfound) => {
    const node = reviewer(command)
    expect(judged(node).named?.isUnfound).toBe(isUnfound)
    const named = reviewer(command, ['tools', 'perl/*.pm'])
    expect(judged(named).named?.isUnfound).toBe(false)
    expect(judged(named).pinned).toEqual(expect.arrayContaining(['tools/r.mjs', 'perl/Judge.pm']))
    expect(judged(named).sealed).toEqual(expect.arrayContaining(['tools/**', 'perl/*.pm']))
  })

  it('is a warning of the check for an executor, and an open reviewer', () => {
    const judge = reviewer(shell('"$REVIEW" x'))
    const { reviewer: executor, ...rest } = judge
    const work: FlowNode = { ...rest, node_id: 'w', kind: 'WORK', ...(executor && { executor }) }
    const { violations, warnings } = programProblems(flowOf(work, judge), around())
    expect(violations).toEqual([])
    expect(warnings.map(({ code, path }) => [code, path]).sort()).toEqual([
      ['flow.program_unpinned', '/nodes/0/executor'],
      ['flow.reviewer_open', '/nodes/1/reviewer'],
    ])
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
})
