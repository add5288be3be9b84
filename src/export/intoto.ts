/**
 * Promotions as in-toto statements in DSSE envelopes, signed with the home's key: which files an act put
 * in place, by their digests, and which fact says so.
 */
import { type Change, displayOfRaw } from '../gate/index.ts'
import { encodeBase64 } from '../ledger/index.ts'
import type { ExportedEvent } from './event.ts'

/** Signs as the home. */
export interface StatementSigner {
  /** The public key as a text. */
  readonly keyText: string
  sign(text: string): Uint8Array
}

const PAYLOAD_TYPE = 'application/vnd.in-toto+json'
const PREDICATE = 'https://github.com/writ-dev/writ/blob/main/docs/export.md#promotion-v1'

/** `changes` are those of the promotion's manifest. */
export function promotionEnvelope(
  event: ExportedEvent,
  home: string,
  changes: readonly Change[],
  signer: StatementSigner,
): Readonly<Record<string, unknown>> {
  const body = JSON.stringify(statement(event, home, changes))
  const sig = encodeBase64(signer.sign(authenticated(body)))
  return {
    payloadType: PAYLOAD_TYPE,
    payload: encodeBase64(new TextEncoder().encode(body)),
    signatures: [{ keyid: signer.keyText, sig }],
  }
}

/** What DSSE signs: type and body with their lengths in bytes. */
function authenticated(body: string): string {
  const bytes = new TextEncoder().encode(body).length
  return `DSSEv1 ${PAYLOAD_TYPE.length} ${PAYLOAD_TYPE} ${bytes} ${body}`
}

function statement(event: ExportedEvent, home: string, changes: readonly Change[]) {
  const { action_id, stream, seq, leaf, at, by, details } = event
  const files = changes.flatMap(({ path, after }) => {
    if (after === null || after.digest === null) return []
    return [{ name: displayOfRaw(path), digest: { sha256: after.digest.slice(7) } }]
  })
  // A statement has a subject: without files it is the list of changes itself.
  const manifest = { name: 'manifest', digest: { sha256: String(details['manifest']).slice(7) } }
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: files.length === 0 ? [manifest] : files,
    predicateType: PREDICATE,
    predicate: {
      home,
      stream,
      seq,
      leaf,
      action_id,
      promoted_at: at,
      recorded_by: by,
      ...details,
      deleted: changes.filter(({ after }) => after === null).length,
    },
  }
}
