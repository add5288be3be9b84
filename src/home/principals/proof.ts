/**
 * The proof of an approval: the signature of a human's own credential under the act, the proposal, the
 * result and the asking. The fact holds it. A reader of the ledger can check it without a passphrase and
 * without this machine.
 */
import type { Confirmation } from '../../contracts/index.ts'
import { type ApprovalQuestion, approvalText, type RecordedAnswer } from '../../gate/index.ts'
import {
  decodeBase64,
  encodeBase64,
  type Register,
  SIGNATURE_TYPES,
  samePrincipal,
  verifierFor,
  verifierKey,
} from '../../ledger/index.ts'
import type { LedgerKey } from '../../store/index.ts'

export type ApprovalProof = NonNullable<Confirmation['proof']>

export function signApproval(
  key: LedgerKey,
  question: Omit<ApprovalQuestion, 'needed'>,
): ApprovalProof {
  const signature = encodeBase64(key.sign(approvalText(question)))
  return { key: encodeBase64(key.publicKey), signature }
}

/** Whether an approval was signed by a credential that its human had. */
export function isProvenApproval(
  { credentials }: Pick<Register, 'credentials'>,
  { confirmation, principal }: RecordedAnswer,
): boolean {
  const { proof } = confirmation
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
