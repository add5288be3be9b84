/**
 * The bundle: one stream as files that anyone can verify with SHA-256 and Ed25519 alone (L-3, I8).
 * Here are its names, the lines of its small files and the page for people;
 * writing it is the host's.
 *
 * INVARIANT (nothing to believe): every file but the page, the schemas and the statements of the
 * manifest follows from the facts and the signed checkpoint. The sums find damage, not forgery.
 */
import { canonicalJson, type Digest } from '../../base/index.ts'
import type { KeySchedule } from './verify-keys.ts'

export const BUNDLE_FORMAT = 'writ-bundle/1'

export const BUNDLE_FILES = {
  page: 'README.txt',
  manifest: 'manifest.json',
  facts: 'facts.jsonl',
  checkpoint: 'checkpoint.txt',
  proofs: 'proofs.jsonl',
  keys: 'keys.txt',
  sums: 'SHA256SUMS',
} as const

/** Streams with more facts get inclusion proofs of their first and last fact only. */
export const INCLUSION_PROOFS_MAX = 10_000

export interface BundleManifest {
  readonly format: typeof BUNDLE_FORMAT
  readonly origin: string
  readonly stream: string
  readonly size: number
  readonly root: Digest
  /** `all`: of every fact; `ends`: of the first and the last. */
  readonly inclusion_proofs: 'all' | 'ends'
  readonly bodies: 'included' | 'left_out'
  /** Statements of the exporting host, bound to no signature. */
  readonly level: string
  readonly exported_at: string
}

export function manifestText(manifest: BundleManifest): string {
  return `${canonicalJson(manifest)}\n`
}

/** The facts whose inclusion proofs a bundle of that size holds. */
export function provenFacts(size: number): readonly number[] {
  if (size <= INCLUSION_PROOFS_MAX) return Array.from({ length: size }, (_, seq) => seq)
  return [0, size - 1]
}

export function inclusionLine(seq: number, size: number, path: readonly Digest[]): string {
  return `${canonicalJson({ type: 'inclusion', seq, size, path })}\n`
}

export function consistencyLine(from: number, to: number, path: readonly Digest[]): string {
  return `${canonicalJson({ type: 'consistency', from, to, path })}\n`
}

/** `<first size> <last size or -> <public key>`, in the order of their use. */
export function keysText(schedule: KeySchedule): string {
  return schedule
    .spans()
    .map(({ key, from, to }) => `${from} ${to ?? '-'} ${key}\n`)
    .join('')
}

/** As `sha256sum` writes and checks it, sorted by path. */
export function sumsText(sums: ReadonlyMap<string, string>): string {
  const paths = [...sums.keys()].sort()
  return paths.map((path) => `${sums.get(path)}  ${path}\n`).join('')
}

export function checkpointFile(size: number): string {
  return `checkpoints/${size}.txt`
}

export function schemaFile(type: string): string {
  return `schemas/${type}.json`
}

export function objectFile(digest: Digest): string {
  return `objects/${digest.slice('sha256:'.length)}`
}

/** The page of a bundle: how to verify it without any of writ's code. Plain text, for people. */
export const BUNDLE_PAGE = `How to verify this bundle
=========================

This directory holds one stream of a ledger: facts in their order, and a signed statement about all of
them. You can check it with SHA-256 and Ed25519 alone. Nothing in here has to be believed, and nothing
of the program that wrote it is needed.

What you need from elsewhere
  - A public key of the ledger that you were given earlier or by another way. The keys in keys.txt are
    here for convenience; a forged bundle would have forged keys as well.
  - If you have one: a checkpoint of this stream, or of the whole home, that you kept (the "anchor";
    step 5). Without it you can show that the bundle is consistent and signed. You cannot show that it
    is complete up to today, or that the holder of the key did not write the history again. With it
    you can: history up to the anchor was only extended.

The files
  facts.jsonl        one fact per line, each in canonical JSON (RFC 8785), a newline (0x0A) after each
  checkpoint.txt     the newest checkpoint, a signed note (C2SP signed-note and tlog-checkpoint)
  checkpoints/N.txt  earlier checkpoints that were kept, of size N
  keys.txt           per line: first size, last size or "-", public key; in the order of their use
  proofs.jsonl       inclusion proofs and consistency proofs (RFC 9162), for handing on single facts
  objects/HASH       payloads that were too long for a fact, under their SHA-256; and bodies, if any
  schemas/TYPE.json  JSON Schemas of the record types
  manifest.json      what is in here
  SHA256SUMS         for "sha256sum -c": finds damage. It is not signed, so it finds no forgery
This page, the schemas, and the words "level", "bodies" and "exported_at" of the manifest are not
signed. Everything else follows from facts.jsonl and the signed checkpoint.

1. The facts
  Take the lines of facts.jsonl without their newlines. The line with index i (from 0) must be the
  canonical JSON of an object with exactly the keys fact_id, occurred_at, principal, record, seq,
  source, stream; seq is i; stream is the same in all; occurred_at never goes back (as text, all in
  the form 2026-01-31T12:00:00.000Z). A record.idempotency_key occurs once.

2. The tree (RFC 9162, section 2.1; the same as RFC 6962)
  leaf(i)      = SHA-256(0x00 || the bytes of line i)
  node(l, r)   = SHA-256(0x01 || l || r)
  root of one leaf is the leaf; of n leaves node(root of the first k, root of the others), where k is
  the largest power of two below n.

3. The checkpoint
  A note is a text, an empty line, and one line per signature. The text has three lines, each with a
  newline: origin, size in decimal, root in base64. The size is the number of facts and the root that
  of step 2. The origin is that of the manifest and ends with "/" and the name of the stream.
  A signature line is: U+2014, space, key name, space, base64(key id (4 bytes) || signature).
  The signature is Ed25519 (RFC 8032) over the text including its last newline, without the empty line.

4. The keys
  A public key is written NAME+ID+BASE64, where BASE64 is 0x01 || the 32 bytes of the key, and ID is
  the first four bytes, in hex, of SHA-256(NAME || 0x0A || 0x01 || key). NAME is the origin.
  The first key of keys.txt signs from size 1 on. Each fact i with record.type "key_rotated_v1" and a
  record.payload.old_key that is not null hands over from old_key, the key in use, to new_key;
  last_size is i + 1. The checkpoint of exactly that size is in checkpoints/ and is signed by both, the
  old key first. Before it only the old key signs, behind it only the new one. keys.txt lists the old
  key up to that size and the new one from that size on.
  Several machines may sign, each with a key of its own. A fact i of type "machine_v1", whose
  principal.kind must be "human", has size i + 1. change "joined" lets payload.key, a key that was not
  there before, sign: only sizes larger than N, where checkpoints/N.txt is the first with N >= size.
  change "removed" ends it: that key signs sizes up to i. For both there is such a checkpoint.
  Every checkpoint in the bundle has exactly one signature, of a key that may sign its size, or at the
  size of a "key_rotated_v1" exactly its two. keys.txt lists the same keys and sizes.
  Facts of that type with old_key null are in the stream "host" only, and change no key there: each
  announces a stream (payload.stream) and the first key of that stream. Fact 0 announces "host" itself;
  its new_key is the first key of keys.txt of the host's bundle.
  At least one of the keys must be one that you have from elsewhere; compare the 32 bytes. (Under what
  name you were given it does not matter: one key signs all streams of a ledger.) If it is one that
  joined, it must have signed a checkpoint of the bundle: anyone can let your key join a history of
  their own. Of a ledger with several machines keep the keys of all of them.

5. Earlier checkpoints and the anchor
  For every file checkpoints/N.txt, and for your anchor of size N: the root of the first N facts by
  step 2 must be its root, and it must be signed by the key of that size. An anchor with more facts
  than the bundle, or with another root, shows that history was cut or written again. Two checkpoints
  of one origin and size with different roots, both signed, prove a fork to anyone: keep both.
  An anchor may be a checkpoint of the whole home. Its text has further lines. Its origin is that of the
  stream without "/" and the stream's name. Lines 2 and 3 are size and root of the stream "host"; each
  further line is name, space, size, space, root in base64, of one other stream. Take size and root of
  this stream from there. Its signer is a key of that size, under the home's origin as its NAME, so
  the ID is another one. A history is anchored as a whole only if every stream extends it, "host" too:
  that stream records tokens, principals, laws and halts.

6. What lies outside the facts
  A record with payload_ref "sha256:HASH" has its payload in objects/HASH: its SHA-256 is HASH, its
  length is record.bytes, and it is canonical JSON. If it is not there, a fact of type
  "body_dropped_v1" with payload.body "sha256:HASH" must say why; else it was removed.
  record.original.body, in a payload of type sandbox_result_v1 the texts outputs.stdout and
  outputs.stderr, and in one of type participant_output_v1 the texts raw and
  answer.document.artifact.content, where they have the form "body:sha256:HASH:N", commit to a body
  of 32 random bytes and then N bytes, whose SHA-256 together is HASH. These texts name contents by
  their plain SHA-256, "sha256:HASH": body and lists of laws_v1; laws, lists and the manifest of each
  of comparison.steps of evaluation_v1; diff.manifest of sandbox_result_v1; flow_digest of
  flow_started_v1. Bodies and contents hold outputs and secrets; they lie in objects/HASH only if the
  manifest says "included", and then one that is missing needs such a fact as well.

7. The proofs
  Each line of proofs.jsonl is canonical JSON, hashes as "sha256:" and hex. {"type":"inclusion"}: from
  the leaf of fact seq, path leads to the root of the first "size" facts (RFC 9162, 2.1.3.2); size is
  that of the checkpoint. {"type":"consistency"}: path shows that the first "to" facts begin with the
  first "from" (2.1.4.2). There is an inclusion proof for every fact, or for the first and the last if
  the manifest says "ends", in order; then a consistency proof for every file of checkpoints/, in order.

8. Answers with a passkey
  A payload of type confirmation_v1 or passkey_proof_v1 may have an "assertion" (WebAuthn), its
  bytes in base64url without padding, also where the payload lies in objects/ (step 6): such a payload
  has to be there. client_data is JSON: type is "webauthn.get"; challenge is the
  base64url of SHA-256 over the canonical JSON of assertion.challenge; origin is http or https, host
  writ.localhost, any port. authenticator_data begins with SHA-256("writ.localhost"); its byte 32
  has the bits 0x01 (a person was present) and 0x04 (the authenticator verified the person).
  public_key, a JSON Web Key, signed authenticator_data || SHA-256(client_data): P-256 with SHA-256
  (DER), Ed25519, or RSA PKCS#1 v1.5 with SHA-256. assertion.challenge.by is "human:", id, "@",
  namespace of the fact's principal. Of a confirmation_v1 these are the same in payload and
  challenge: answer, proposal_digest, result_digest, asked_at, reason; question is action_id in
  lower case. challenge.checkpoint is the text of a checkpoint of the home (step 5): the line of
  this stream, if there is one, has the root of its first facts, and fewer facts than come before
  this one. So an answer also dates the history before it. Which human has which passkey: facts of
  type principal_v1 in the stream "host", change "passkey_added".

What this does not show
  That what was recorded is true, and that everything was recorded. The manifest says at which level
  the host ran: "seatbelt" means that the ledger and its key belonged to the same user as the
  programs it watched.
`
