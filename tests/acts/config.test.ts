/** CONFIG_CHANGE from end to end: a real file, a real sandbox, as root and as an ordinary user. */
import { chmodSync, lstatSync, symlinkSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Json } from '../cli-gate/place.ts'
import { Actor, BOTH_USERS, type Who } from './actor.ts'

vi.setConfig({ testTimeout: 120_000 })

let actor: Actor

function change(path: string, format: string, fields: Json, modify = [path]): Json {
  const operation = {
    type: 'CONFIG_CHANGE',
    path: actor.at(path),
    format,
    set: {},
    unset: [],
    ...fields,
  }
  return actor.proposal(operation, { modify })
}

/** Gives the tests of a group an actor of their own. */
function useActor(who: Who): void {
  beforeAll(() => {
    actor = new Actor(who, 'config')
  }, 120_000)
  afterAll(() => actor?.remove())
}

describe.each(BOTH_USERS)('as %s', (who) => {
  useActor(who)

  it.each([
    [
      'json',
      '{\r\n  "port": 80, // here\r\n  "old": 1\r\n}\r\n',
      '{\r\n  "port": 8080 // here\r\n}\r\n',
    ],
    ['yaml', '# top\nport:   80   # here\nold: 1\n', '# top\nport:   8080   # here\n'],
    ['toml', '# top\nport = 80 # here\nold = 1', '# top\nport = 8080 # here'],
  ])('%s is changed, undone, and computed again', (format, before, after) => {
    const path = `work/settings.${format}`
    chmodSync(actor.write(path, before), 0o640)
    const { status, json } = actor.propose(
      change(path, format, { set: { port: 8080 }, unset: ['old'] }),
    )
    expect(status, JSON.stringify(json)).toBe(0)
    expect(json).toMatchObject({
      promoted: true,
      result: { diff: { counts: { added: 0, modified: 1, deleted: 0 } } },
    })
    expect(actor.text(path)).toBe(after)
    expect(lstatSync(actor.at(path)).mode & 0o777).toBe(0o640)
    expect(actor.rollback(json.action_id).json).toMatchObject({ verified: true })
    expect(actor.text(path)).toBe(before)
  })

  it('a file that leads elsewhere changes nothing outside the scope', () => {
    const secret = actor.write('secret.json', '{"a":1}')
    symlinkSync(secret, actor.at('work/link.json'))
    const { status, json } = actor.propose(change('work/link.json', 'json', { set: { a: 2 } }))
    expect(status, JSON.stringify(json)).toBe(1)
    expect(actor.text('secret.json')).toBe('{"a":1}')
  })

  it('all of it is computed again', () => {
    const { status, json } = actor.replay()
    expect(status, JSON.stringify(json)).toBe(0)
  })
})

// What writ decides here does not depend on the user.
describe('as one of them', () => {
  useActor('user')

  it('what it says about itself is checked like any act', () => {
    actor.write('work/a.json', '{"a":1}')
    const undeclared = actor.propose(change('work/a.json', 'json', { set: { a: 2 } }, []))
    expect(undeclared.json.decision).toMatchObject({ decision: 'BLOCK', code: 'effect.undeclared' })
    const same = actor.propose(change('work/a.json', 'json', { set: { a: 1 } }))
    expect(same.json).toMatchObject({ promoted: true, promotion: { paths: [] } })
    const outside = change('outside.json', 'json', { set: { a: 2 } }, [])
    expect(actor.propose(outside).json.decision.code).toBe('descriptor.operation_scope')
    expect(actor.text('work/a.json')).toBe('{"a":1}')
  })

  it('a value never reaches a fact', () => {
    actor.write('work/b.json', '{}')
    actor.propose(change('work/b.json', 'json', { set: { token: 'hush-hush' } }))
    expect(actor.text('work/b.json')).toContain('hush-hush')
    expect(actor.writ(['log', '--json']).out).not.toContain('hush-hush')
  })

  it.each([
    ['config.no_file', 'json', null, { set: { a: 1 } }],
    ['config.syntax', 'json', '{"a":', { set: { a: 1 } }],
    ['config.duplicate', 'yaml', 'a: 1\na: 2\n', { set: { b: 1 } }],
    ['config.type', 'toml', 'a = 1\n', { set: { 'a.b': 1 } }],
    ['config.nothing', 'json', '{}', { unset: ['a'] }],
    ['config.value', 'toml', '', { set: { a: null } }],
    ['config.encoding', 'json', Buffer.from([0x7b, 0xff, 0x7d]), { set: { a: 1 } }],
  ])('%s is reported by its name, and nothing happens', (code, format, content, fields) => {
    const path = `work/${code}.${format}`
    if (content !== null) {
      writeFileSync(actor.at(path), content)
      actor.own()
    }
    const { status, json } = actor.propose(change(path, format, fields))
    expect(status).toBe(1)
    expect(json.decision).toMatchObject({ decision: 'BLOCK', permanent: false })
    expect(json.decision.codes).toContain(code)
    expect(json.result.findings).toContainEqual({ code, path: actor.at(path) })
  })

  it('all of it is computed again', () => {
    const { status, json } = actor.replay()
    expect(status, JSON.stringify(json)).toBe(0)
  })
})
