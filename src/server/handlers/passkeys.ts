/** People in a browser: login, registration of passkeys, and the challenges that they sign (W-3). */
import type { RegistrationResponseJSON } from '@simplewebauthn/server'
import { ROUTES, type Route } from '../../api/index.ts'
import { type FaultError, faultError, showName } from '../../base/index.ts'
import { isObject } from '../../contracts/index.ts'
import {
  codeDigest,
  findCode,
  liveCodes,
  newRecoveryCodes,
  recordChange,
  recoveryCodesLeft,
} from '../../home/index.ts'
import {
  isRegistered,
  livePasskeys,
  occurredAtText,
  ownCredential,
  type Principal,
  parsePrincipal,
  passkeyRow,
  principalText,
  samePrincipal,
} from '../../ledger/index.ts'
import { requireCredentialEndorsed } from '../../service/index.ts'
import type { ChallengeDocument, Registration } from '../console/passkey-desk.ts'
import { requestDigest } from '../console/proof-desk.ts'
import { askedAbout } from './questions.ts'
import type { Handler, RouteCall } from './route-call.ts'

export const showDoor: Handler<'showDoor'> = async ({ home }) => {
  const { passkeys } = await home.register()
  return { value: { passkeys: passkeys.some(({ removedAt }) => removedAt === null) } }
}

export const offerLogin: Handler<'offerLogin'> = async ({ people }) => ({
  value: { options: people.passkeys.offerLogin() },
})

export const login: Handler<'login'> = async ({ people, body }) => {
  const login = await people.passkeys.login(body.response)
  const { cookie, answer } = await people.sessions.open(login)
  return { value: answer, headers: { 'set-cookie': cookie } }
}

export const logout: Handler<'logout'> = async ({ people, caller }) => ({
  value: { ok: true },
  headers: { 'set-cookie': await people.sessions.end(caller) },
})

export const showMe: Handler<'showMe'> = async ({ home, caller }) => {
  const { principal, streams, session, proof } = caller
  const register = await home.register()
  const by = session !== undefined ? 'session' : proof === 'token' ? 'token' : 'socket'
  return {
    value: {
      principal,
      streams,
      by,
      expires_at: session?.expiresAt ?? null,
      passphrase: ownCredential(register.credentials, principal) !== null,
      passkeys: livePasskeys(register, principal).length,
      recovery_codes: recoveryCodesLeft(register, principal),
    },
  }
}

export const createChallenge: Handler<'createChallenge'> = async (call) => {
  const { route: name, params = {}, query = {}, body = {} } = call.body
  const table: Readonly<Record<string, Route>> = ROUTES
  const one = Object.hasOwn(table, name) ? table[name] : undefined
  if (one?.who !== 'proven' && name !== 'offerPasskey') {
    throw faultError('api.malformed', '/body/route', `${showName(name)} needs no proof`)
  }
  if (!isObject(params) || !isObject(query) || !isObject(body)) {
    throw faultError('api.malformed', '/body', 'parameters, query and body are objects')
  }
  const { principal } = call.caller
  const parts = {
    by: principalText(principal),
    moment: occurredAtText(Date.now()),
    checkpoint: await call.people.passkeys.checkpoint(call.caller),
  }
  const request = requestDigest(name, params, query, body)
  const asked = await askedAbout(call, name, params, body)
  const document: ChallengeDocument =
    asked === null
      ? { type: 'request_challenge_v1', route: name, request, ...parts }
      : { type: 'approval_challenge_v1', ...asked, ...parts }
  return { value: await call.people.passkeys.offerProof(principal, request, document) }
}

export const offerPasskey: Handler<'offerPasskey'> = async (call) => {
  const { body } = call
  const proofs = Object.keys(body.proof)
  if (proofs.length !== 1) {
    const message = 'one thing proves who registers: passphrase, passkey, code or recovery_code'
    throw faultError('api.malformed', '/body/proof', message)
  }
  const named = body.principal === undefined ? null : parsePrincipal(body.principal)
  const registration = await provenRegistration(call, named)
  if (named !== null && !samePrincipal(named, registration.principal)) {
    throw wrongCode('the proof is of another person')
  }
  await requireEndorsed(call, registration)
  return { value: await call.people.passkeys.offerRegistration(registration) }
}

/** A recovery code was made with a passkey that was endorsed: a lost passkey does not lock a home. */
async function requireEndorsed(
  { home }: Pick<RouteCall, 'home'>,
  { principal, provenBy }: Pick<Registration, 'principal' | 'provenBy'>,
): Promise<void> {
  if (provenBy === 'recovery_code') return
  await requireCredentialEndorsed(home.ledger, await home.register(), principal)
}

type OfferCall = RouteCall<'offerPasskey'>

/** Returns for whom a passkey may be registered. Fails unless that human proves to be it. */
async function provenRegistration(call: OfferCall, named: Principal | null): Promise<Registration> {
  const { home, people } = call
  const { proof, name, ...rest } = call.body
  const { code, recovery_code, passkey } = proof
  if (passkey !== undefined) {
    const request = requestDigest('offerPasskey', {}, {}, { ...rest, name })
    const { principal } = await people.passkeys.prove(passkey, request, null)
    return { principal, name, provenBy: 'passkey', code: null }
  }
  if (code !== undefined) {
    const principal = await principalOfCode(call, 'once', code, named)
    return { principal, name, provenBy: 'code', code: codeDigest(code) }
  }
  if (recovery_code !== undefined) {
    const principal = await principalOfCode(call, 'recovery', recovery_code, named)
    return { principal, name, provenBy: 'recovery_code', code: codeDigest(recovery_code) }
  }
  const register = await home.register()
  const principal = named ?? register.owner
  // Which names are registered is not for callers without a proof.
  if (principal === null || !isRegistered(register, principal)) {
    throw faultError('credential.wrong', '')
  }
  await people.proofs.proveOwn(principal, proof.passphrase ?? '')
  return { principal, name, provenBy: 'passphrase', code: null }
}

/** A wrong one-time code is a fact: after five of them the code ends. */
function principalOfCode(
  { home, people }: OfferCall,
  kind: 'once' | 'recovery',
  typed: string,
  named: Principal | null,
): Promise<Principal> {
  const find = async (): Promise<Principal | null> => {
    const register = await home.register()
    const found = findCode(register, kind, typed, Date.now())
    if (found !== null) return found.principal
    for (const { principal, digest } of liveCodes(register, kind, Date.now())) {
      if (kind !== 'once' || (named !== null && !samePrincipal(named, principal))) continue
      const place = { ledger: home.ledger, state: home.home.state }
      const change = { change: 'code_refused', principal, code_digest: digest } as const
      await recordChange(place, { principal, source: 'api' }, change)
    }
    return null
  }
  return people.proofs.guess(`code ${kind}`, find, wrongCode)
}

function wrongCode(message?: string): FaultError {
  const hint = 'make a new one at a terminal: `writ passkey code`'
  return faultError('credential.code', '', message, hint)
}

export const addPasskey: Handler<'addPasskey'> = async ({ home, people, body }) => {
  // The route’s schema asks for what the library reads; it judges the rest by itself.
  const response = body.response as unknown as RegistrationResponseJSON
  const { passkey, registration } = await people.passkeys.register({
    ...response,
    clientExtensionResults: response.clientExtensionResults ?? {},
  })
  const { principal, provenBy: proven_by, code } = registration
  await requireEndorsed({ home }, registration)
  const place = { ledger: home.ledger, state: home.home.state }
  const actor = { principal, source: 'api' }
  const named = code === null ? {} : { code_digest: code }
  const change = { change: 'passkey_added', principal, passkey, proven_by, ...named } as const
  const key = code === null ? undefined : `passkey-code/${code}`
  const { repeated, seq } = await recordChange(place, actor, change, key)
  if (repeated) throw wrongCode('the code was used before')
  const register = await home.register()
  const addedAt = register.passkeys.find(
    (one) => one.passkey.passkey_id === passkey.passkey_id,
  )?.addedAt
  const codes = recoveryCodesLeft(register, principal) > 0 ? null : newRecoveryCodes()
  if (codes !== null) await keepCodes({ home }, principal, codes)
  const { passkey_id: passkeyId, sign_count: signCount } = passkey
  const { cookie, answer } = await people.sessions.open({ principal, passkeyId, signCount })
  return {
    value: {
      passkey: passkeyRow({ passkey, principal, addedAt: addedAt ?? '', removedAt: null }),
      recovery_codes: codes,
      session: answer,
      seq,
    },
    headers: { 'set-cookie': cookie },
  }
}

async function keepCodes(
  { home }: Pick<RouteCall, 'home'>,
  principal: Principal,
  codes: readonly string[],
): Promise<void> {
  const place = { ledger: home.ledger, state: home.home.state }
  await recordChange(
    place,
    { principal, source: 'api' },
    { change: 'recovery_set', principal, recovery_digests: codes.map(codeDigest) },
  )
}

export const renewRecoveryCodes: Handler<'renewRecoveryCodes'> = async ({ home, caller }) => {
  await requireCredentialEndorsed(home.ledger, await home.register(), caller.principal)
  const codes = newRecoveryCodes()
  await keepCodes({ home }, caller.principal, codes)
  return { value: { recovery_codes: codes } }
}
