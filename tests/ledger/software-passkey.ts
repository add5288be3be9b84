/** A passkey in software: signs challenges as an authenticator and a browser do together. */
import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import type {
  ApprovalAssertion,
  ApprovalChallenge,
  Passkey,
  PasskeyPublicKey,
} from '../../src/contracts/index.ts'
import { challengeOf } from '../../src/ledger/index.ts'

const ORIGIN = 'http://writ.localhost:4180'

export class SoftwarePasskey {
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  readonly #id = 'Zm9v'

  get passkey(): Passkey {
    return {
      passkey_id: 'pk-0123456789abcdef',
      credential_id: this.#id,
      public_key: this.#publicKey,
      sign_count: 0,
      transports: ['internal'],
      rp_id: 'writ.localhost',
      origin: ORIGIN,
      name: 'software',
      backed_up: false,
    }
  }

  get #publicKey(): PasskeyPublicKey {
    // A key that Node made has the members of its kind.
    return this.#keys.publicKey.export({ format: 'jwk' }) as PasskeyPublicKey
  }

  sign(challenge: ApprovalChallenge, count: number): ApprovalAssertion {
    const client = Buffer.from(
      JSON.stringify({
        type: 'webauthn.get',
        challenge: challengeOf(challenge),
        origin: ORIGIN,
        crossOrigin: false,
      }),
    )
    const counter = Buffer.alloc(4)
    counter.writeUInt32BE(count)
    const said = Buffer.concat([hash('writ.localhost'), Buffer.of(0x05), counter])
    const signature = sign('sha256', Buffer.concat([said, hash(client)]), this.#keys.privateKey)
    return {
      credential_id: this.#id,
      public_key: this.#publicKey,
      client_data: client.toString('base64url'),
      authenticator_data: said.toString('base64url'),
      signature: signature.toString('base64url'),
      challenge,
    }
  }
}

function hash(bytes: string | Buffer): Buffer {
  return createHash('sha256').update(bytes).digest()
}
