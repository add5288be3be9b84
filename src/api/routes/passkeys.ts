/**
 * People in a browser (W-3): passkeys, the sessions that they open, and the challenges that an assertion
 * signs. These routes answer only under the name of the console.
 */
import * as Type from 'typebox'
import { route } from '../shape/route.ts'
import {
  AnyDocument,
  AssertionResponse,
  answer,
  Base64Url,
  fields,
  Id,
  Moment,
  nullable,
  PrincipalShape,
  Proof,
  Strings,
} from '../shape/shapes.ts'

const HumanName = Type.String({
  pattern: '^human:[^@\\s]{1,128}@[^@\\s]{1,128}$',
  'x-says': 'a human, human:id@namespace',
})

const Label = Type.String({
  pattern: '^[^\\u0000-\\u001f\\u007f]{1,64}$',
  'x-says': 'a short name',
})
const Code = Type.String({ pattern: '^[0-9A-Za-z -]{10,64}$', 'x-says': 'a code' })

/** What `navigator.credentials.create` answered, as JSON. */
const RegistrationResponse = Type.Object({
  id: Base64Url,
  rawId: Base64Url,
  type: Type.Enum(['public-key']),
  response: Type.Object({
    clientDataJSON: Base64Url,
    attestationObject: Base64Url,
    transports: Type.Optional(Strings),
  }),
})

/** Options of a ceremony, as `@simplewebauthn/browser` takes them. */
const CeremonyOptions = Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object' })

const PasskeyRow = answer({
  passkey_id: Type.String(),
  principal: PrincipalShape,
  name: Type.String(),
  algorithm: Type.String(),
  added_at: Moment,
  removed_at: nullable(Moment),
  backed_up: Type.Boolean(),
  transports: Strings,
})

const SessionShape = {
  principal: PrincipalShape,
  /** Sent with every request in the header `writ-page-key`; the cookie alone is not enough. */
  page_key: Type.String(),
  expires_at: Moment,
  /** The session ends earlier if no request comes for so long. */
  idle_seconds: Type.Integer(),
}

export const PASSKEY_ROUTES = {
  showDoor: route({
    method: 'GET',
    path: '/v1/door',
    tag: 'console',
    says: 'Says whether a passkey is registered here, so that a page knows what to ask for.',
    who: 'anyone',
    command: null,
    answers: { 200: answer({ passkeys: Type.Boolean() }) },
  }),
  offerLogin: route({
    method: 'POST',
    path: '/v1/login/options',
    tag: 'console',
    says: 'Begins a login: the options for the browser, with a challenge that counts once.',
    who: 'anyone',
    command: null,
    body: fields({}),
    answers: { 200: answer({ options: CeremonyOptions }) },
  }),
  login: route({
    method: 'POST',
    path: '/v1/login',
    tag: 'console',
    says: 'Opens a browser session with the assertion of a passkey; sets its cookie.',
    who: 'anyone',
    command: null,
    body: fields({ response: AssertionResponse }),
    answers: { 200: answer(SessionShape) },
  }),
  logout: route({
    method: 'POST',
    path: '/v1/logout',
    tag: 'console',
    says: 'Ends the browser session of the request.',
    who: 'human',
    command: null,
    body: fields({}),
    answers: { 200: answer({ ok: Type.Boolean() }) },
  }),
  showMe: route({
    method: 'GET',
    path: '/v1/me',
    tag: 'console',
    says: 'Says who calls, and what that caller can prove with.',
    who: 'caller',
    command: null,
    answers: {
      200: answer({
        principal: PrincipalShape,
        streams: nullable(Strings),
        /** How the request showed who calls. */
        by: Type.Enum(['token', 'session', 'socket']),
        expires_at: nullable(Moment),
        passphrase: Type.Boolean(),
        passkeys: Type.Integer(),
        recovery_codes: Type.Integer(),
      }),
    },
  }),
  createChallenge: route({
    method: 'POST',
    path: '/v1/challenges',
    tag: 'console',
    says: 'Makes the challenge for one request that needs a proof; a passkey signs it.',
    who: 'human',
    command: null,
    body: fields({
      /** The name of the route, as in the description of the service. */
      route: Type.String({ pattern: '^[a-zA-Z]{1,64}$', 'x-says': 'the name of a route' }),
      params: Type.Optional(AnyDocument),
      query: Type.Optional(AnyDocument),
      /** The body of that request without its `proof`. */
      body: Type.Optional(AnyDocument),
    }),
    answers: {
      200: answer({
        /** The document whose SHA-256 is the challenge: what the person signs. */
        document: AnyDocument,
        options: CeremonyOptions,
        expires_at: Moment,
      }),
    },
  }),
  offerPasskey: route({
    method: 'POST',
    path: '/v1/passkeys/options',
    tag: 'console',
    says: 'Begins the registration of a passkey, for a human who proves to be that human.',
    who: 'anyone',
    command: null,
    body: fields({
      /** The human of the home without it; not needed with a code. */
      principal: Type.Optional(HumanName),
      /** What the person calls the passkey. */
      name: Label,
      proof: Type.Object(
        {
          passphrase: Type.Optional(Type.String({ minLength: 1 })),
          passkey: Type.Optional(AssertionResponse),
          /** Of `writ passkey code`. */
          code: Type.Optional(Code),
          recovery_code: Type.Optional(Code),
        },
        { additionalProperties: false },
      ),
    }),
    answers: { 200: answer({ options: CeremonyOptions, expires_at: Moment }) },
  }),
  addPasskey: route({
    method: 'POST',
    path: '/v1/passkeys',
    tag: 'console',
    says: 'Registers the passkey that the browser made, and opens a session with it.',
    who: 'anyone',
    command: null,
    body: fields({ response: RegistrationResponse }),
    answers: {
      200: answer({
        passkey: PasskeyRow,
        /** Shown now and never again; null if the person has some already. */
        recovery_codes: nullable(Strings),
        session: answer(SessionShape),
      }),
    },
  }),
  listPasskeys: route({
    method: 'GET',
    path: '/v1/passkeys',
    tag: 'console',
    says: 'Lists the passkeys of all humans; never a secret.',
    who: 'human',
    command: 'passkey list',
    runs: { kind: 'read' },
    answers: { 200: answer({ passkeys: Type.Array(PasskeyRow) }) },
  }),
  removePasskey: route({
    method: 'POST',
    path: '/v1/passkeys/{id}/remove',
    tag: 'console',
    says: 'Removes a passkey of the caller; what it signed stays valid.',
    who: 'proven',
    command: 'passkey remove',
    runs: { kind: 'act', words: ['id'], takesProof: true },
    params: fields({ id: Id }),
    body: fields({ proof: Proof }),
    answers: { 200: answer({ passkey_id: Type.String(), seq: Type.Integer() }) },
  }),
  renewRecoveryCodes: route({
    method: 'POST',
    path: '/v1/recovery-codes',
    tag: 'console',
    says: 'Makes new recovery codes for the caller; they are shown once, and earlier ones end.',
    who: 'proven',
    command: null,
    body: fields({ proof: Proof }),
    answers: { 200: answer({ recovery_codes: Strings }) },
  }),
}
