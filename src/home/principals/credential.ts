/**
 * The credential of a human: an Ed25519 key, sealed under a passphrase (scrypt N=2^17, r=8,
 * then AES-256-GCM). A fact holds the public half, so a swapped file is refused. The credential of the
 * home's human is `credential.json`; those of others lie in a directory, named by their keys.
 *
 * The passphrase comes from a terminal or a file descriptor, never from environment or arguments.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes, scrypt } from 'node:crypto'
import { join } from 'node:path'
import { type FaultError, faultError } from '../../base/index.ts'
import { type Confirmation, isObject } from '../../contracts/index.ts'
import { type ApprovalQuestion, approvalText, type RecordedAnswer } from '../../gate/index.ts'
import {
  answerAssertionFault,
  decodeBase64,
  encodeBase64,
  type Register,
  SIGNATURE_TYPES,
  samePrincipal,
  verifierFor,
  verifierKey,
} from '../../ledger/index.ts'
import { makeFolder, namesIfThere, readIfThere, writeWhole } from '../../machine/index.ts'
import { keyFromSeed, type Ledger, type LedgerKey, newSeed } from '../../store/index.ts'

const COST = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1024 * 1024 }
const KEY_BYTES = 32
const CIPHER = 'aes-256-gcm'
const FILE = 'credential.json'
const FOLDER = 'credentials'

function fileOf(state: string, publicKey: string): string {
  const name = createHash('sha256').update(publicKey).digest('hex')
  return join(state, FOLDER, `${name}.json`)
}

/** Four words of at least three letters, or 12 characters: anything shorter falls to guessing offline. */
export function isStrongPassphrase(passphrase: string): boolean {
  const words = passphrase.split(/\s+/).filter((word) => [...word].length >= 3)
  return words.length >= 4 || [...passphrase].length >= 12
}

/** Makes a key, seals it in the state directory, and returns its public half in base64. */
export async function sealCredential(
  state: string,
  passphrase: string,
  whose: 'owner' | 'other' = 'owner',
): Promise<string> {
  const key = keyFromSeed(newSeed())
  const [salt, nonce] = [randomBytes(16), randomBytes(12)]
  const cipher = createCipheriv(CIPHER, await derive(passphrase, salt), nonce)
  const sealed = Buffer.concat([cipher.update(key.seed), cipher.final(), cipher.getAuthTag()])
  const publicKey = encodeBase64(key.publicKey)
  const document = {
    kind: 'passphrase',
    public_key: publicKey,
    kdf: { name: 'scrypt', N: COST.N, r: COST.r, p: COST.p, salt: encodeBase64(salt) },
    cipher: CIPHER,
    nonce: encodeBase64(nonce),
    sealed: encodeBase64(sealed),
  }
  if (whose === 'other') makeFolder(join(state, FOLDER), 0o700)
  const file = whose === 'owner' ? join(state, FILE) : fileOf(state, publicKey)
  writeWhole(file, `${JSON.stringify(document, null, 2)}\n`, 0o600)
  return publicKey
}

/** What a home shares with its other machines; null where it has one. */
type SharedFiles = Pick<NonNullable<Ledger['files']>, 'get' | 'put'> | null

/** Hands the sealed credentials of this machine to the others of the home; they stay sealed there. */
export async function shareCredentials(state: string, files: SharedFiles): Promise<void> {
  const paths = [FILE, ...namesIfThere(join(state, FOLDER)).map((name) => `${FOLDER}/${name}`)]
  for (const path of files === null ? [] : paths) {
    const text = readIfThere(join(state, path))
    const publicKey = text === null ? null : publicKeyIn(text)
    if (text !== null && publicKey !== null) await files?.put(sharedName(publicKey), text)
  }
}

const PUTS_BACK =
  'prove yourself with the right passphrase on a machine where it worked before, as with `writ gc`: that puts the true file on the server'

function sharedName(publicKey: string): string {
  return `credential/${createHash('sha256').update(publicKey).digest('hex')}`
}

function publicKeyIn(text: string): string | null {
  try {
    const document: unknown = JSON.parse(text)
    const key = isObject(document) ? document['public_key'] : null
    return typeof key === 'string' ? key : null
  } catch {
    return null
  }
}

/**
 * The key, if the passphrase opens it and it is the one that the facts name; else null. A credential that
 * was set on another machine comes from the files that the home shares, and is kept here once it opened.
 */
export async function openCredential(
  state: string,
  passphrase: string,
  publicKey: string | null,
  files: SharedFiles = null,
): Promise<LedgerKey | null> {
  const kept = keptText(state, publicKey)
  if (publicKey === null || files === null || isOf(kept, publicKey)) {
    const key = await unseal(kept, passphrase, publicKey)
    if (key !== null && kept !== null) await putBack(files, encodeBase64(key.publicKey), kept)
    return key
  }
  const shared = await files.get(sharedName(publicKey), PUTS_BACK)
  const key = await unseal(shared ?? kept, passphrase, publicKey)
  if (key !== null && shared !== null) keepShared(state, publicKey, shared)
  return key
}

function keptText(state: string, publicKey: string | null): string | null {
  const own = publicKey === null ? null : readIfThere(fileOf(state, publicKey))
  return own ?? readIfThere(join(state, FILE))
}

function isOf(text: string | null, publicKey: string): boolean {
  return text !== null && publicKeyIn(text) === publicKey
}

/** The machine that signed the file on the server may be gone, or the server an older copy. */
async function putBack(files: SharedFiles, publicKey: string, text: string): Promise<void> {
  try {
    await files?.put(sharedName(publicKey), text)
  } catch {
    // The server takes no writes at the moment; the passphrase is right all the same.
  }
}

/** So that this machine needs the server's copy no more. */
function keepShared(state: string, publicKey: string, text: string): void {
  try {
    makeFolder(join(state, FOLDER), 0o700)
    writeWhole(fileOf(state, publicKey), text, 0o600)
  } catch {
    // The disk is full; the next proof asks the server again.
  }
}

/** Why a passphrase opened nothing: it is wrong, or the file on the server is not the one that was set. */
export async function wrongPassphrase(
  state: string,
  publicKey: string | null,
  files: SharedFiles,
): Promise<FaultError> {
  if (publicKey === null || files === null || isOf(keptText(state, publicKey), publicKey)) {
    return faultError('credential.wrong', '')
  }
  const name = sharedName(publicKey)
  if ((await files.get(name, PUTS_BACK)) !== null) return faultError('credential.wrong', '')
  const message = `the sealed file \`${name}\` is not on the server, and this machine has no copy`
  return faultError('credential.wrong', name, message, PUTS_BACK)
}

async function unseal(
  text: string | null,
  passphrase: string,
  publicKey: string | null,
): Promise<LedgerKey | null> {
  const document = text === null ? null : parse(text)
  if (document === null) return null
  const { salt, nonce, sealed } = document
  try {
    const decipher = createDecipheriv(CIPHER, await derive(passphrase, salt), nonce)
    decipher.setAuthTag(sealed.subarray(-16))
    const seed = Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()])
    const key = keyFromSeed(seed)
    return encodeBase64(key.publicKey) === publicKey ? key : null
  } catch {
    // A wrong passphrase and a damaged file look alike to the cipher; both open nothing.
    return null
  }
}

/** Parses a credential. Ignores the cost in the file: its author must not choose a cheaper one. */
function parse(text: string): { salt: Buffer; nonce: Buffer; sealed: Buffer } | null {
  try {
    const document: unknown = JSON.parse(text)
    if (!isObject(document) || !isObject(document['kdf'])) return null
    const bytes = (value: unknown): Buffer => Buffer.from(String(value), 'base64')
    return {
      salt: bytes(document['kdf']['salt']),
      nonce: bytes(document['nonce']),
      sealed: bytes(document['sealed']),
    }
  } catch {
    return null
  }
}

function derive(passphrase: string, salt: Uint8Array): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(passphrase.normalize('NFKC'), salt, KEY_BYTES, COST, (error, key) => {
      if (error === null) resolve(key)
      else reject(error)
    })
  })
}

export type ApprovalProof = NonNullable<Confirmation['proof']>

/**
 * The proof of an approval: the signature of a human's own credential under the act, the proposal, the
 * result and the asking. The fact holds it. A reader of the ledger can check it without a passphrase and
 * without this machine.
 */
export function signApproval(
  key: LedgerKey,
  question: Omit<ApprovalQuestion, 'needed'>,
): ApprovalProof {
  const signature = encodeBase64(key.sign(approvalText(question)))
  return { key: encodeBase64(key.publicKey), signature }
}

/** Whether an approval was signed by a credential that its human had. */
export function isProvenApproval(
  register: Pick<Register, 'credentials' | 'passkeys'>,
  { confirmation, principal }: RecordedAnswer,
): boolean {
  const { credentials } = register
  const { proof, assertion } = confirmation
  if (assertion !== undefined)
    return answerAssertionFault(register, confirmation, principal) === null
  if (proof === undefined) return false
  const isKnown = credentials.some(
    (one) => one.key === proof.key && samePrincipal(one.principal, principal),
  )
  return isKnown && isSigned(proof, confirmation)
}

function isSigned({ key, signature }: ApprovalProof, confirmation: Confirmation): boolean {
  const [publicKey, bytes] = [decodeBase64(key), decodeBase64(signature)]
  if (publicKey === null || bytes === null) return false
  const verifier = verifierFor(verifierKey('approval', SIGNATURE_TYPES.ed25519, publicKey))
  const text = approvalText({
    actionId: confirmation.action_id,
    proposalDigest: confirmation.proposal_digest,
    resultDigest: confirmation.result_digest,
    askedAt: confirmation.asked_at,
  })
  return verifier?.verify(text, bytes) === true
}
