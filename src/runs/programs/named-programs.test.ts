/** Which files a command names, and what the check of a flow says about them. */
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Flow, FlowNode } from '../../contracts/index.ts'
import type { FlowFact } from '../../flow/index.ts'
import { namedBy } from './named-programs.ts'
import { programProblems } from './program-problems.ts'
import { protectedPrograms } from './protected-programs.ts'
import { RunPrograms } from './run-programs.ts'
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
    [['env', 'X=1', 'sh', 'tools/plain'], ['tools/plain']],
    [['bash', '-euo', 'pipefail', '--', 'tools/plain'], ['tools/plain']],
    [['make', '-fbuild/judge.mk'], ['build/judge.mk']],
  ])('%j', (command, files) => {
    const { named, pinned } = judged(reviewer(command))
    expect(named?.isUnfound).toBe(command[0] === 'npm')
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

/** One for each way in which a command names a file that it runs. */
const RUN_BY_NAME: readonly (readonly [readonly string[], string])[] = [
  [['sh', 'judge/r.sh'], 'judge/r.sh'],
  [['sh', 'judge/r'], 'judge/r'],
  [['/bin/sh', 'judge/r'], 'judge/r'],
  [['sh', '-e', 'judge/r'], 'judge/r'],
  [['bash', '-euo', 'pipefail', 'judge/r'], 'judge/r'],
  [['bash', '--', 'judge/r'], 'judge/r'],
  [['dash', 'judge/r', 'x'], 'judge/r'],
  [['zsh', '-f', 'judge/r'], 'judge/r'],
  [['env', 'X=1', 'sh', 'judge/r'], 'judge/r'],
  [['env', '-C', 'tools', 'sh', 'r'], 'tools/r'],
  [['timeout', '5', './judge/r'], 'judge/r'],
  [['perl', '-w', '-Iperl', 'judge/r'], 'judge/r'],
  [['ruby', '-W0', 'judge/r'], 'judge/r'],
  [['php', '-f', 'judge/r'], 'judge/r'],
  [['lua', 'judge/r'], 'judge/r'],
  [['python3', '-u', '-X', 'importtime', 'judge/r'], 'judge/r'],
  [['node', '--no-warnings', 'judge/r'], 'judge/r'],
  [['node', '--import', './judge/r.mjs', 'tools/r.mjs'], 'judge/r.mjs'],
  [['deno', 'run', '-A', 'judge/r'], 'judge/r'],
  [['bun', 'judge/r.ts'], 'judge/r.ts'],
  [['bun', 'run', './judge/r'], 'judge/r'],
  [['npx', 'tsx', 'judge/r'], 'judge/r'],
  [['uv', 'run', 'python', 'judge/r'], 'judge/r'],
  [['make', '-C', 'build', '-f', 'r.mk'], 'build/r.mk'],
  [['make', '-fjudge/r'], 'judge/r'],
  [['awk', '-F,', '-f', 'judge/r', 'x'], 'judge/r'],
  [['java', '-jar', 'judge/r.jar'], 'judge/r.jar'],
]
const isMissing = ({ code, message }: { code: string; message: string }): boolean =>
  code === 'flow.program_missing' && !message.includes('on the PATH')

describe('a program that is not there', () => {
  it.each(RUN_BY_NAME)('%j is refused, and its place is sealed', (command, path) => {
    const judge = reviewer(command)
    const { reviewer: executor, ...rest } = judge
    const work: FlowNode = { ...rest, kind: 'WORK', ...(executor && { executor }) }
    for (const node of [judge, work]) {
      const { violations } = programProblems(flowOf(node), around())
      expect(violations.filter(isMissing)).toHaveLength(1)
      const { sealed } = protectedPrograms(new WorkspaceFiles(root), flowOf(node), '')
      expect(sealed).toEqual(expect.arrayContaining([path]))
    }
    const { sealed } = protectedPrograms(new WorkspaceFiles(root), flowOf(judge), '')
    expect(sealed).toContain(`${dirname(path)}/**`)
  })

  it.each<[readonly string[], readonly string[]]>([
    [shell('cd tools && sh judge/r'), ['judge/r', 'tools/judge/r']],
    [shell('X=1 ./judge/r x; python3 judge/s.py'), ['judge/r', 'judge/s.py']],
    [
      ['python3', '-m', 'pytest'],
      ['pytest.py/**', 'pytest/**/*.py/**'],
    ],
  ])('%j may be something else: it is sealed, and not refused', (command, places) => {
    const { sealed } = protectedPrograms(new WorkspaceFiles(root), flowOf(reviewer(command)), '')
    expect(sealed).toEqual(expect.arrayContaining([...places]))
    expect(programProblems(flowOf(reviewer(command)), around()).violations).toEqual([])
  })

  it.each<[readonly string[]]>([
    [['sh', '-c', 'true']],
    [['python3', '-c', 'print(1)', 'x']],
    [['node', '-e', '0', 'x']],
    [['perl', '-ne', 'print', 'x']],
    [['sh', '/dev/stdin']],
    [['make', 'judge/r']],
    [['awk', '{ print }', 'out/x']],
    [['npm', 'run', 'judge']],
    [['node', '--test', 'out/*.test.mjs']],
    [['claude', '-p', 'sh', 'x']],
  ])('%j names none', (command) => {
    const { violations } = programProblems(flowOf(reviewer(command)), around())
    expect(violations.filter(isMissing)).toEqual([])
  })

  it('is work only of an executor without secrets, where a node declares it', () => {
    const judge = reviewer(['sh', 'out/r.sh'])
    const { reviewer: executor, ...rest } = judge
    const work = (secrets: string[]): FlowNode => ({
      ...rest,
      kind: 'WORK',
      ...(executor && { executor: { ...executor, secrets } }),
    })
    const codes = (node: FlowNode, writes: string[]): readonly string[] => {
      const maker: FlowNode = { ...rest, node_id: 'm', kind: 'WORK', writes }
      return programProblems(flowOf(maker, node), around()).violations.map(({ code }) => code)
    }
    expect(codes(work([]), ['out/**'])).toEqual([])
    expect(codes(work([]), ['**'])).toEqual(['flow.program_missing'])
    expect(codes(work(['TOKEN']), ['out/**'])).toEqual(['flow.program_missing'])
    expect(codes(judge, ['out/**'])).toEqual(['flow.program_missing'])
  })

  it('does not run once it is there', () => {
    const { reviewer: executor, ...rest } = reviewer(['sh', 'late/r.sh'])
    const work: FlowNode = { ...rest, kind: 'WORK', ...(executor && { executor }) }
    const programs = new RunPrograms(flowOf(work), root, '')
    const { pins = [], programs: named = [] } = programs.pin()
    expect([pins, programs.changed()]).toEqual([[], []])
    mkdirSync(join(root, 'late'))
    writeFileSync(join(root, 'late/r.sh'), 'echo')
    expect(programs.changed()).toEqual(['late/r.sh'])
    // The process that resumes the run finds the file.
    const resumed = new RunPrograms(flowOf(work), root, '')
    const origin = { workspace: root, programs: named, pins }
    const evaluator = { name: 'flow', version: '7' }
    const begun = { type: 'flow_started_v1', payload: { origin: { ...origin, evaluator } } }
    // Only the pins of the fact are read.
    resumed.restore([begun as unknown as FlowFact])
    expect(resumed.changed()).toEqual(['late/r.sh'])
    rmSync(join(root, 'late'), { recursive: true })
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
