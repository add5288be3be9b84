/** Assertions of a software authenticator: each algorithm, each thing that can be wrong with one. */
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { isSignedByJwk, plainVerify } from '../../base/jwk-check.ts'
import type {
  ApprovalAssertion,
  ApprovalChallenge,
  Passkey,
  PasskeyPublicKey,
} from '../../contracts/index.ts'
import { answerAssertionFault, assertionFault, challengeOf, signCountOf } from './assertion.ts'

const CHALLENGE: ApprovalChallenge = {
  type: 'approval_challenge_v1',
  question: '8f4d0c9e-6f0e-4b43-9f0a-3a1c2e5d7b11',
  answer: 'APPROVED',
  proposal_digest: `sha256:${'a'.repeat(64)}`,
  result_digest: `sha256:${'b'.repeat(64)}`,
  asked_at: '2026-11-15T08:00:03.000Z',
  by: 'human:ann@local',
  moment: '2026-11-15T08:00:50.000Z',
  checkpoint: `writ.example/home\n7\n${'A'.repeat(43)}=\n`,
}
const ORIGIN = 'http://writ.localhost:4180'
const ANN = { kind: 'human', id: 'ann', namespace: 'local' } as const
const BEA = { ...ANN, id: 'bea' }

const KEYS = {
  ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  EdDSA: generateKeyPairSync('ed25519'),
  RS256: generateKeyPairSync('rsa', { modulusLength: 2048 }),
}
type Algorithm = keyof typeof KEYS

interface Made {
  readonly client?: Readonly<Record<string, unknown>>
  readonly rpId?: string
  readonly flags?: number
  readonly count?: number
}

/** What a browser and an authenticator would answer. */
function assert(algorithm: Algorithm, made: Made = {}): ApprovalAssertion {
  const { client = {}, rpId = 'writ.localhost', flags = 0x05, count = 7 } = made
  const { privateKey, publicKey } = KEYS[algorithm]
  const said = { type: 'webauthn.get', challenge: challengeOf(CHALLENGE), origin: ORIGIN }
  const clientData = Buffer.from(JSON.stringify({ ...said, crossOrigin: false, ...client }))
  const counter = Buffer.alloc(4)
  counter.writeUInt32BE(count)
  const authenticator = Buffer.concat([hash(rpId), Buffer.of(flags), counter])
  const bytes = Buffer.concat([authenticator, hash(clientData)])
  return {
    credential_id: 'Zm9v',
    public_key: jwk(publicKey),
    client_data: clientData.toString('base64url'),
    authenticator_data: authenticator.toString('base64url'),
    signature: sign(algorithm === 'EdDSA' ? null : 'sha256', bytes, privateKey).toString(
      'base64url',
    ),
    challenge: CHALLENGE,
  }
}

const hash = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest()
// Keys that Node makes have the members of their kind.
const jwk = (key: KeyObject) => key.export({ format: 'jwk' }) as PasskeyPublicKey

describe.each(Object.keys(KEYS) as Algorithm[])('%s', (algorithm) => {
  it('holds, and does not after any change', () => {
    const good = assert(algorithm)
    expect(assertionFault(good)).toBe(null)
    expect(assertionFault(good, ORIGIN)).toBe(null)
    expect(signCountOf(good)).toBe(7)
    const other = { ...good, challenge: { ...CHALLENGE, answer: 'DENIED' as const } }
    expect(assertionFault(other)).toContain('another document')
    const swapped = algorithm === 'EdDSA' ? KEYS.ES256 : KEYS.EdDSA
    expect(assertionFault({ ...good, public_key: jwk(swapped.publicKey) })).toContain(
      'did not sign',
    )
    const flipped = Buffer.from(good.signature, 'base64url')
    flipped[10] = (flipped[10] ?? 0) ^ 1
    expect(assertionFault({ ...good, signature: flipped.toString('base64url') })).not.toBe(null)
  })

  it('is judged alike by Node and in a browser', () => {
    const { privateKey, publicKey } = KEYS[algorithm]
    const key = jwk(publicKey)
    for (let index = 0; index < 8; index++) {
      const bytes = hash(`text ${index}`)
      const signature = sign(algorithm === 'EdDSA' ? null : 'sha256', bytes, privateKey)
      const wrong = Buffer.from(signature)
      wrong[signature.length - 1] = (wrong.at(-1) ?? 0) ^ 1
      for (const [text, signed, holds] of [
        [bytes, signature, true],
        [bytes, wrong, false],
        [hash('another'), signature, false],
        [bytes, signature.subarray(0, -1), false],
      ] as const) {
        expect(isSignedByJwk(key, text, signed)).toBe(holds)
        expect(tried(() => plainVerify(key, text, signed))).toBe(holds)
      }
    }
  })
})

/** In a browser what throws is no signature. */
function tried(check: () => boolean): boolean {
  try {
    return check()
  } catch {
    return false
  }
}

describe('an assertion', () => {
  it.each([
    ['of a registration', { client: { type: 'webauthn.create' } }, 'something else'],
    ['of another origin', { client: { origin: 'http://localhost:4180' } }, 'another origin'],
    ['of a name that ends alike', { client: { origin: 'http://evil-writ.localhost' } }, 'origin'],
    ['of a frame', { client: { crossOrigin: true } }, 'inside of another page'],
    ['of a framed page', { client: { topOrigin: 'http://a' } }, 'inside of another page'],
    ['of another name', { rpId: 'localhost' }, 'another name'],
    ['without a person', { flags: 0x04 }, 'saw no person'],
    ['without verification', { flags: 0x01 }, 'did not verify'],
  ] as const)('%s is none', (_, made, words) => {
    expect(assertionFault(assert('ES256', made))).toContain(words)
  })

  it('is bound to the port of the service where that is known', () => {
    expect(assertionFault(assert('ES256'), 'http://writ.localhost:4181')).toContain('origin')
  })

  it('that cannot be read is none', () => {
    const good = assert('ES256')
    for (const client_data of ['', '!!', 'AA', good.authenticator_data])
      expect(assertionFault({ ...good, client_data })).not.toBe(null)
    expect(assertionFault({ ...good, authenticator_data: 'AAAA' })).toContain('too little')
  })
})

describe('the assertion of an answer', () => {
  const assertion = assert('ES256')
  const confirmation = {
    action_id: CHALLENGE.question.toUpperCase(),
    proposal_digest: CHALLENGE.proposal_digest,
    result_digest: CHALLENGE.result_digest,
    answer: 'APPROVED',
    assurance: 'passkey',
    level: 'seatbelt',
    asked_at: CHALLENGE.asked_at,
    answered_at: '2026-11-15T08:01:00.000Z',
    expires_at: '2026-11-15T08:15:03.000Z',
    assertion,
  } as const
  const passkey: Passkey = {
    passkey_id: 'pk-0123456789abcdef',
    credential_id: 'Zm9v',
    public_key: assertion.public_key,
    sign_count: 0,
    transports: [],
    rp_id: 'writ.localhost',
    origin: ORIGIN,
    name: 'laptop',
    backed_up: false,
  }
  const known = { passkey, principal: ANN, addedAt: '2026-11-01T00:00:00.000Z', removedAt: null }

  it('is of a passkey that this human had then', () => {
    expect(answerAssertionFault({ passkeys: [known] }, confirmation, ANN)).toBe(null)
    expect(answerAssertionFault({ passkeys: [] }, confirmation, ANN)).toContain('not of a passkey')
    expect(answerAssertionFault({ passkeys: [known] }, confirmation, BEA)).toContain('human:bea')
    const beas = { ...known, principal: BEA }
    expect(answerAssertionFault({ passkeys: [beas] }, confirmation, BEA)).toContain('human:ann')
    const early = { ...known, removedAt: '2026-11-15T08:00:00.000Z' }
    expect(answerAssertionFault({ passkeys: [early] }, confirmation, ANN)).toContain('removed')
    const late = { ...known, removedAt: '2026-11-16T00:00:00.000Z' }
    expect(answerAssertionFault({ passkeys: [late] }, confirmation, ANN)).toBe(null)
    const otherKey = { ...passkey, public_key: jwk(KEYS.EdDSA.publicKey) }
    const swapped = { ...known, passkey: otherKey }
    expect(answerAssertionFault({ passkeys: [swapped] }, confirmation, ANN)).toContain('not of')
  })

  it('is for exactly this answer', () => {
    const register = { passkeys: [known] }
    for (const other of [
      { answer: 'DENIED' },
      { result_digest: `sha256:${'c'.repeat(64)}` },
      { proposal_digest: `sha256:${'c'.repeat(64)}` },
      { asked_at: '2026-11-15T08:00:04.000Z' },
      { action_id: '11111111-1111-4111-8111-111111111111' },
      { reason: 'added later' },
    ] as const)
      expect(answerAssertionFault(register, { ...confirmation, ...other }, ANN)).toContain('answer')
  })
})
