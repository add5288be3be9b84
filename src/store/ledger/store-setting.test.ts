/** Where a ledger's facts lie: the file, the URLs that are taken, and those that are not. */

import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FaultError } from '../../base/index.ts'
import { connectionOf, readStoreSetting, writeStoreSetting } from './store-setting.ts'

let directory = ''

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'writ-store-setting-'))
})

afterEach(() => rmSync(directory, { recursive: true, force: true }))

function faultOf(work: () => unknown): string {
  try {
    work()
    return 'no failure'
  } catch (error) {
    if (!(error instanceof FaultError)) throw error
    return `${error.fault.code}: ${error.fault.message}`
  }
}

describe('the setting', () => {
  it('is a file in the state directory without one', () => {
    expect(readStoreSetting(directory)).toEqual({ kind: 'sqlite' })
  })

  it('is read as it was written, by its owner only', () => {
    const setting = {
      kind: 'postgres',
      url: 'postgresql://writ@db/facts',
      schema: 'writ_1',
    } as const
    writeStoreSetting(directory, setting)
    expect(readStoreSetting(directory)).toEqual(setting)
    expect(statSync(join(directory, 'store.json')).mode & 0o777).toBe(0o600)
  })

  it.each([
    '',
    '[]',
    '{"kind":"sqlite"}',
    '{"kind":"postgres","url":"postgresql://db/x"}',
    '{"kind":"postgres","url":"postgresql://db/x","schema":"a; DROP TABLE b"}',
    '{"kind":"postgres","url":"postgresql://db/x","schema":"a","more":1}',
    '{"kind":"postgres","url":"postgresql://u:secret@db/x","schema":"a"}',
  ])('is refused as %s', (text) => {
    writeFileSync(join(directory, 'store.json'), text)
    const said = faultOf(() => readStoreSetting(directory))
    expect(said).toMatch(/^ledger\.store_malformed: /)
    expect(said).not.toContain('secret')
  })
})

describe('a URL', () => {
  it.each([
    [
      'postgresql://ann@localhost:5433/facts',
      { user: 'ann', host: 'localhost', port: 5433, database: 'facts', ssl: false },
    ],
    [
      'postgresql://ann@/facts?host=/run/pg',
      { user: 'ann', host: '/run/pg', database: 'facts', ssl: false },
    ],
    ['postgres:///facts', { database: 'facts', ssl: false }],
    ['postgresql://db.example/facts', { host: 'db.example', database: 'facts', ssl: true }],
    ['postgresql://10.0.0.7/x?sslmode=disable', { host: '10.0.0.7', database: 'x', ssl: false }],
    [
      'postgresql://localhost/x?sslmode=verify-full',
      { host: 'localhost', database: 'x', ssl: true },
    ],
  ])('%s is taken', (url, connection) => {
    expect(connectionOf(url)).toEqual(connection)
  })

  it.each([
    ['nonsense', /URL such as/],
    ['mysql://db/x', /URL such as/],
    ['postgresql://ann:secret@db/x', /holds no password/],
    // What would switch off the sync of the session.
    ['postgresql://db/x?options=-c%20synchronous_commit%3Doff', /no parameter/],
    ['postgresql://db/x?sslmode=prefer', /no sslmode/],
  ])('%s is refused', (url, words) => {
    const said = faultOf(() => connectionOf(url))
    expect(said).toMatch(words)
    expect(said).not.toContain('secret')
  })
})
