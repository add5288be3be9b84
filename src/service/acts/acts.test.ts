/** What an act is inside, and what this machine lacks for one. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FaultError } from '../../base/index.ts'
import type { ActionDescriptor, Operation } from '../../contracts/index.ts'
import { actCommand, actFindings, findBrowser } from './act-command.ts'
import { requestLine } from './request.ts'

let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'writ-acts-unit-'))
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

function refusal(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    if (error instanceof FaultError) return `${error.fault.code} ${error.fault.message}`
    throw error
  }
  return 'none'
}

describe('a browser', () => {
  it('that is not installed is asked for', () => {
    expect(refusal(() => findBrowser([folder, '']))).toBe(
      'sandbox.control_missing no browser is installed; install one with: apt-get install chromium',
    )
  })

  it('is a program, not just a name', () => {
    writeFileSync(join(folder, 'chromium'), '')
    expect(refusal(() => findBrowser([folder]))).toContain('no browser')
    writeFileSync(join(folder, 'google-chrome'), '', { mode: 0o755 })
    expect(findBrowser([folder])).toBe(join(folder, 'google-chrome'))
  })
})

it('a package manager that is not installed is asked for', () => {
  const operation: Operation = {
    type: 'PACKAGE_INSTALL',
    manager: 'pnpm',
    packages: ['x'],
    cwd: '/a',
  }
  const descriptor = { sandbox: { allow_network: false } } as ActionDescriptor
  expect(refusal(() => actCommand(operation, { descriptor, path: folder }))).toContain(
    'install it with: npm install --global pnpm',
  )
})

it('a held request is nothing inside', () => {
  const operation: Operation = { type: 'NETWORK_REQUEST', method: 'POST', url: 'http://a/' }
  const { argv } = actCommand(operation, { descriptor: {} as ActionDescriptor, path: '' })
  expect(argv).toEqual(['true'])
})

it('no request is taken for code', () => {
  const request = JSON.parse(
    '{"__proto__":{"x":1},"a":"\\u2028`);process.exit()//","b":"\\\\\\"\\n"}',
  )
  const target: Record<string, unknown> = {}
  new Function('globalThis', requestLine(request))(target)
  expect(JSON.stringify(target['writRequest'])).toBe(JSON.stringify(request))
})

it('only the statuses of a kind have names, and only when the act ended by itself', () => {
  const ended = { exitCode: 71, signal: null, killedBy: null, aborted: false } as never
  const config = { type: 'CONFIG_CHANGE', path: '/a/b' } as Operation
  expect(actFindings(config, ended)).toEqual([{ code: 'config.nothing', path: '/a/b' }])
  expect(actFindings({ type: 'FILE_READ', path: '/a' }, ended)).toEqual([])
  expect(actFindings(config, { exitCode: 71, killedBy: 'memory' } as never)).toEqual([])
  expect(
    actFindings(
      { type: 'UI_AUTOMATION' } as Operation,
      { exitCode: 81, killedBy: null, aborted: false } as never,
    ),
  ).toEqual([{ code: 'ui.step' }])
})
