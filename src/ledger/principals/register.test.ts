/** The register of principals: folded from facts; tokens; streams as tenants. */
import { describe, expect, it } from 'vitest'
import { digestBytes } from '../../base/index.ts'
import type { PrincipalChange } from '../../contracts/index.ts'
import type { Fact, Principal } from '../facts/fact.ts'
import {
  bearerOf,
  type Caller,
  defaultStream,
  humanFault,
  mayKnow,
  parsePrincipal,
  principalText,
  type Register,
  RegisterFold,
} from './register.ts'

const ANN: Principal = { kind: 'human', id: 'ann', namespace: 'local' }
const PUMP: Principal = { kind: 'device', id: 'pump', namespace: 'farm' }

function fold(...changes: PrincipalChange[]): Register {
  const folded = new RegisterFold()
  changes.forEach((payload, seq) => {
    folded.take({
      seq,
      fact_id: '',
      occurred_at: `2026-01-01T00:00:0${seq}.000Z`,
      source: 'cli',
      stream: 'host',
      principal: ANN,
      record: { type: 'principal_v1', payload },
    })
  })
  return folded.finish()
}

const added: PrincipalChange = { change: 'added', principal: PUMP, streams: ['north'] }
const made: PrincipalChange = {
  change: 'token_created',
  principal: PUMP,
  token_id: 't1',
  token_digest: digestBytes('secret'),
}

describe('the register', () => {
  it('knows the first human as its owner, and the credential as it was set last', () => {
    const first: PrincipalChange = { change: 'added', principal: ANN, credential: 'none' }
    const register = fold(first, added)
    expect(register.owner).toEqual(ANN)
    expect(register.credential).toBeNull()
    expect(register.applied).toBe(2)
    const set = fold(first, { change: 'credential_set', principal: ANN, credential: 'passphrase' })
    expect(set.credential).toEqual({ kind: 'passphrase', principal: ANN, key: null })
    const off = { change: 'credential_set', principal: ANN, credential: 'none' } as const
    expect(fold(first, off).credential).toBeNull()
  })

  it('passes over facts that are not about principals', () => {
    const fact = { seq: 4, record: { type: 'key_rotated_v1', payload: {} } } as unknown as Fact
    const folded = new RegisterFold()
    folded.take(fact)
    expect(folded.finish()).toEqual({ ...fold(), applied: 5 })
  })

  it('takes a live token and no other', () => {
    const nowMs = Date.parse('2026-06-01T00:00:00Z')
    const bearer = (register: Register, token: string) => {
      const answer = bearerOf(register, token, nowMs)
      return answer.ok ? answer.caller : answer.fault.code
    }
    const live = { principal: PUMP, streams: ['north'], proof: 'token' }
    expect(bearer(fold(added, made), 'secret')).toEqual(live)
    expect(bearer(fold(added, made), 'secret2')).toBe('principal.token')
    expect(bearer(fold(added, made), '')).toBe('principal.token')
    expect(bearer(fold(made), 'secret')).toBe('principal.token')
    const revoked: PrincipalChange = { change: 'token_revoked', principal: PUMP, token_id: 't1' }
    expect(bearer(fold(added, made, revoked), 'secret')).toBe('principal.token')
    const until = (moment: string): Register => fold(added, { ...made, expires_at: moment })
    expect(bearer(until('2026-06-01T00:00:00Z'), 'secret')).toBe('principal.token')
    expect(bearer(until('2026-06-01T00:00:01Z'), 'secret')).toEqual(live)
  })
})

describe('callers', () => {
  const caller = (principal: Principal, streams: string[] | null): Caller => ({
    principal,
    streams,
    proof: 'token',
  })

  it('only humans decide (I1)', () => {
    expect(humanFault(caller(ANN, null), 'this')).toBeNull()
    for (const kind of ['ai', 'script', 'device'] as const) {
      const refused = humanFault(caller({ ...PUMP, kind }, null), 'this')
      expect(refused?.code).toBe('principal.not_human')
    }
  })

  it('know of their own streams only (L-7)', () => {
    const north = caller(PUMP, ['north'])
    expect(['north', 'main', 'host', 'North'].map((name) => mayKnow(north, name))).toEqual([
      true,
      false,
      false,
      false,
    ])
    expect(defaultStream(north)).toBe('north')
    expect(defaultStream(caller(PUMP, ['a', 'main']))).toBe('main')
    expect(mayKnow(caller(ANN, null), 'host')).toBe(true)
    expect(mayKnow(caller(ANN, null), '../x')).toBe(false)
  })

  it('are written and read as kind:id@namespace', () => {
    expect(parsePrincipal(principalText(PUMP))).toEqual(PUMP)
    expect(parsePrincipal('human:a:b@c@d')).toEqual({ kind: 'human', id: 'a:b@c', namespace: 'd' })
    for (const text of ['', 'pump', 'robot:a@b', 'ai:@b', 'ai:a@', ':a@b', 'ai:a']) {
      expect(parsePrincipal(text)).toBeNull()
    }
  })
})
