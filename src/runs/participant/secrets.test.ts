/** Secrets are taken out of everything that a participant says, asks for, or fails with. */
import { describe, expect, it } from 'vitest'
import { failure } from './line.ts'
import { documentWithoutSecrets, secretsOf, withoutSecrets } from './secrets.ts'

const KEY = 'sk-live-1234567890'
const MODEL = { chat: 'http://127.0.0.1:1/v1', model: 'm' }

describe('the secrets of a participant', () => {
  it('are those that it declares; a model that declares none has the usual key', () => {
    const environment = { OPENAI_API_KEY: KEY, OWN: 'another-key' }
    expect(secretsOf(MODEL, environment)).toEqual({ OPENAI_API_KEY: KEY })
    expect(secretsOf({ ...MODEL, secrets: ['OWN'] }, environment)).toEqual({ OWN: 'another-key' })
    expect(secretsOf({ http: 'http://127.0.0.1:1' }, environment)).toEqual({})
    expect(secretsOf(MODEL, { OPENAI_API_KEY: '' })).toEqual({})
    expect(secretsOf(MODEL, {})).toEqual({})
  })
})

describe('taking secrets out', () => {
  it('takes the longer of two that hold one another', () => {
    const secrets = { SHORT: 'abcd', LONG: 'abcd-efgh' }
    expect(withoutSecrets('abcd-efgh abcd', secrets)).toBe('[secret LONG] [secret SHORT]')
  })

  it('reaches names and texts of a document at any depth, and leaves the rest', () => {
    const document = { a: [{ [KEY]: `x ${KEY}` }], b: 1 }
    expect(documentWithoutSecrets(document, { KEY })).toEqual({
      a: [{ '[secret KEY]': 'x [secret KEY]' }],
      b: 1,
    })
    expect(documentWithoutSecrets({ a: 'b' }, { KEY })).toEqual({ a: 'b' })
    const quoted = 'it"s\\mine'
    expect(documentWithoutSecrets({ a: quoted }, { Q: quoted })).toEqual({ a: '[secret Q]' })
  })

  it('gives a text where nothing readable is left, and never throws', () => {
    expect(documentWithoutSecrets({ pin: 12345 }, { PIN: '12345' })).toBe('{"pin":[secret PIN]}')
    let deep: unknown = KEY
    for (let depth = 0; depth < 100_000; depth++) deep = [deep]
    expect(documentWithoutSecrets(deep, { KEY })).toBe('')
  })

  it('comes before a text is cut', () => {
    const { message } = failure(400, `${'x'.repeat(490)}${KEY}`, { KEY })
    expect(message).not.toContain(KEY.slice(0, 8))
  })
})
