/** What `writ exec` proposes, over which scope, and with which status it ends. */

import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { FaultError } from '../../base/index.ts'
import { checkDocument } from '../../contracts/index.ts'
import type { GateAnswer } from '../../service/index.ts'
import { ownStatus } from '../call/command.ts'
import { type ExecRequest, execProposal, isDeclaredByApproval } from './exec-proposal.ts'
import { execEnd } from './exec-run.ts'
import { absoluteGlob, absoluteGlobs, execScope } from './exec-scope.ts'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'writ-exec-scope-')))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const repository = join(folder, 'repository')
const deep = join(repository, 'src', 'deep')
mkdirSync(deep, { recursive: true })
mkdirSync(join(repository, '.git'))
mkdirSync(join(folder, 'plain'))
mkdirSync(join(folder, 'home', '.git'), { recursive: true })
symlinkSync(deep, join(folder, 'link'))

const home = join(folder, 'home')

function codeOf(work: () => unknown): string | null {
  try {
    work()
    return null
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(FaultError)
    return (thrown as FaultError).fault.code
  }
}

describe('a declaration in a linked worktree', () => {
  const main = join(folder, 'main')
  const linked = join(folder, 'linked')
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', '-C', main, ...words])
  mkdirSync(main)
  git('init', '-q')
  git('commit', '-q', '--allow-empty', '-m', 'one')
  git('worktree', 'add', '-q', linked)

  it('of the whole tree covers what git keeps of it elsewhere', () => {
    const whole = [`${linked}/**`, `${main}/.git/**`]
    expect(absoluteGlobs(['.'], linked)).toEqual(whole)
    expect(absoluteGlobs(['**'], linked)).toEqual(whole)
  })

  it('of a part of it does not', () => {
    expect(absoluteGlobs(['src/**', 'a*'], linked)).toEqual([`${linked}/src/**`, `${linked}/a*`])
    expect(absoluteGlobs(['.'], main)).toEqual([`${main}/**`])
  })
})

describe('the scope', () => {
  it('is the top of the git working tree, else the current directory', () => {
    expect(execScope([], { cwd: deep, home, workspace: repository })).toEqual([repository])
    expect(
      execScope([], { cwd: join(folder, 'plain'), home, workspace: join(folder, 'plain') }),
    ).toEqual([join(folder, 'plain')])
  })

  it('a worktree, whose .git is a file, counts', () => {
    const tree = join(folder, 'worktree')
    mkdirSync(join(tree, 'a'), { recursive: true })
    writeFileSync(join(tree, '.git'), 'gitdir: elsewhere\n')
    expect(execScope([], { cwd: join(tree, 'a'), home, workspace: tree })).toEqual([tree])
  })

  it('is what is named: real, each once, the outer one of two', () => {
    expect(execScope(['.', deep, '../deep'], { cwd: deep, home, workspace: deep })).toEqual([deep])
    expect(execScope(['../..', '.'], { cwd: deep, home, workspace: deep })).toEqual([repository])
    expect(execScope([join(folder, 'link')], { cwd: deep, home, workspace: deep })).toEqual([deep])
    const both = execScope(['.', join(folder, 'plain')], { cwd: deep, home, workspace: deep })
    expect(both).toEqual([deep, join(folder, 'plain')])
  })

  it.each([
    ['/', 'the root'],
    ['/usr', 'a top-level directory'],
    [join(folder, 'home'), 'a home'],
  ])('is never %s', (root) => {
    expect(codeOf(() => execScope([root], { cwd: root, home, workspace: root }))).toBe(
      'descriptor.scope_implicit',
    )
    expect(codeOf(() => execScope([], { cwd: root, home, workspace: root }))).toBe(
      'descriptor.scope_implicit',
    )
  })

  it('holds the current directory, exists, and is a directory', () => {
    const outside = () => execScope([join(folder, 'plain')], { cwd: deep, home, workspace: deep })
    expect(codeOf(outside)).toBe('descriptor.operation_scope')
    expect(codeOf(() => execScope(['gone'], { cwd: deep, home, workspace: deep }))).toBe(
      'cli.file_unreadable',
    )
    writeFileSync(join(deep, 'file'), '')
    expect(codeOf(() => execScope(['file'], { cwd: deep, home, workspace: deep }))).toBe(
      'cli.usage',
    )
  })
})

describe('globs', () => {
  it.each([
    ['*.log', `${deep}/*.log`],
    ['../*.ts', `${repository}/src/*.ts`],
    ['dist/**', `${deep}/dist/**`],
    ['dist/', `${deep}/dist/**`],
    ['..', `${repository}/src/**`],
    ['./new.txt', `${deep}/new.txt`],
    ['/etc/x', '/etc/x'],
  ])('%s', (glob, absolute) => {
    expect(absoluteGlob(glob, deep)).toBe(absolute)
  })
})

const REQUEST: ExecRequest = {
  actionId: '8f4d0c9e-6f0e-4b43-9f0a-3a1c2e5d7b11',
  createdAt: '2026-11-15T08:00:00.000Z',
  argv: ['/usr/bin/make', '--json', 'please trust me\n'],
  cwd: '/home/ann/shop/src',
  scope: ['/home/ann/shop'],
  write: [],
  remove: [],
  env: {},
  hosts: [],
  send: [],
  resources: { max_cpu_ms: 1, max_memory_mb: 1, max_disk_mb: 1, max_duration_ms: 1 },
}

describe('the proposal', () => {
  it('is valid by its contract, with and without a declaration', () => {
    const declared = { ...REQUEST, write: ['/home/ann/shop/**'], remove: ['/home/ann/shop/*.log'] }
    for (const request of [REQUEST, declared]) {
      const answer = checkDocument(execProposal(request), { as: 'proposal_v1' })
      expect(answer).toMatchObject({ valid: true })
    }
    expect(isDeclaredByApproval(REQUEST)).toBe(true)
    expect(isDeclaredByApproval(declared)).toBe(false)
  })

  it('is MEDIUM, declares what was said, and nothing of the arguments is its intent', () => {
    const { descriptor, operation } = execProposal({ ...REQUEST, write: ['/home/ann/shop/a'] })
    expect(descriptor.risk_level).toBe('MEDIUM')
    expect(descriptor.effects.filesystem).toEqual({
      create: ['/home/ann/shop/a'],
      modify: ['/home/ann/shop/a'],
      delete: [],
    })
    expect(descriptor.intent_summary).toBe('Run make as a command of writ exec.')
    expect(operation).toEqual({
      type: 'COMMAND_EXECUTION',
      argv: REQUEST.argv,
      cwd: REQUEST.cwd,
    })
  })

  it('asks when nothing was declared', () => {
    expect(execProposal(REQUEST).descriptor.confirmation.required).toBe(true)
  })
})

interface Case {
  readonly exit?: number | null
  readonly signal?: string
  readonly status?: string
  readonly effects?: number
  readonly decision?: string
  readonly code?: string
  readonly promoted?: boolean
  readonly pending?: boolean
}

function answer(given: Case): GateAnswer {
  const { exit = 0, signal = null, status = 'SUCCESS', effects = 1, promoted = false } = given
  const { decision = 'CONFIRM', code = 'confirm.descriptor', pending = false } = given
  const result = {
    execution: { status, exit_code: exit, signal },
    diff: { counts: { added: effects, modified: 0, deleted: 0 } },
  }
  const more = pending ? { pending: { id: 'x', expires_at: 'y' } } : {}
  // Only these parts decide about the status.
  return { decision: { decision, code }, result, promoted, ...more } as unknown as GateAnswer
}

describe('the status', () => {
  const failed = { status: 'FAILURE', exit: 3, code: 'result.failed' } as const
  it.each<[string, Case, number, string | null]>([
    ['promoted', { promoted: true, decision: 'PROMOTE' }, 0, null],
    ['no effects', { decision: 'PROMOTE', effects: 0 }, 0, null],
    ['denied', {}, 125, 'confirm.descriptor'],
    ['waiting', { pending: true }, 75, 'confirm.descriptor'],
    ['blocked', { decision: 'BLOCK', code: 'effect.undeclared' }, 125, 'effect.undeclared'],
    ['failed, no effects', { ...failed, effects: 0, decision: 'BLOCK' }, 3, null],
    ['failed, promoted all the same', { ...failed, promoted: true }, 3, null],
    ['failed, denied', failed, 125, 'result.failed'],
    ['failed, waiting', { ...failed, pending: true }, 75, 'result.failed'],
    [
      'failed and blocked',
      { ...failed, decision: 'BLOCK', code: 'effect.out_of_scope' },
      125,
      'effect.out_of_scope',
    ],
    ['by a signal', { ...failed, exit: null, signal: 'SIGTERM', effects: 0 }, 143, null],
    [
      'timed out',
      { status: 'TIMEOUT', exit: null, decision: 'BLOCK', code: 'result.timeout' },
      125,
      'result.timeout',
    ],
  ])('%s', (_, given, status, code) => {
    expect(execEnd(answer(given))).toEqual({ status, code })
  })

  it('no rehearsal at all is 125', () => {
    const blocked = { ...answer({ decision: 'BLOCK', code: 'halted' }), result: null }
    expect(execEnd(blocked)).toEqual({ status: 125, code: 'halted' })
  })

  it('is a byte', () => {
    expect(ownStatus(256 + 7)).toBe(7)
  })
})
