/** `writ flow evidence`: a human brings evidence for a claim of a run, or against it (F-6). */
import { digestBytes, faultError, isDigest, showName } from '../../base/index.ts'
import type { Evidence } from '../../contracts/index.ts'
import type { FlowFact, RunState } from '../../flow/index.ts'
import { findRun, lookAtRun, ownNode } from '../../runs/index.ts'
import { type CommandCall, EXIT, type Exit, usageError } from '../call/command.ts'
import { proveHuman, refuseOthers } from '../call/home.ts'
import { readSource } from '../call/source.ts'
import { handedText, handOrder } from '../flow/hand-order.ts'
import { withFlows } from '../flow/open.ts'

export async function run(call: CommandCall): Promise<Exit> {
  const [runName, claimId] = call.arguments
  const { options } = call
  const evidenceId = options.text('id')
  if (runName === undefined || claimId === undefined || evidenceId === null) {
    const message = 'say the run, the claim and `--id`'
    const hint = 'writ flow evidence RUN CLAIM --id ID (--file F | --digest D) [--against]'
    throw usageError(message, hint)
  }
  const digest = await digestOf(call)
  return withFlows(call, async ({ host, gate }) => {
    refuseOthers(gate.session.caller, 'bringing evidence')
    await proveHuman(gate.session, call, 'bringing evidence')
    const { run_id } = await findRun(host.ledger, host.stream, runName)
    const { state, facts } = await lookAtRun(host, run_id)
    if (!state.claimNodes.has(claimId)) {
      throw faultError('flow.not_waiting', claimId, `the run has no claim ${showName(claimId)}`)
    }
    const { kind, id, namespace } = host.principal
    const principal = `${kind}:${id}@${namespace}`
    refuseOwn(state, facts, claimId, principal)
    const evidence = {
      evidence_id: evidenceId,
      claim_id: claimId,
      actor: principal,
      digest,
      supports: !options.isOn('against'),
    }
    if (facts.some((fact) => isSame(fact, evidence))) {
      const words = `it is there already; writ flow status ${run_id}\n`
      const answer = JSON.stringify({ ok: true, run_id, evidence, is_known: true })
      await call.terminal.out(options.isOn('json') ? `${answer}\n` : words)
      return EXIT.yes
    }
    const handed = await handOrder(host, run_id, { kind: 'evidence', evidence, principal })
    const next = handedText(handed, run_id)
    const walked = handed === 'walked'
    await call.terminal.out(
      options.isOn('json')
        ? `${JSON.stringify({ ok: true, run_id, evidence, walked })}\n`
        : `recorded; ${next}\n`,
    )
    return EXIT.yes
  })
}

/** Fails for a person who has answered for the node of the claim. */
function refuseOwn(
  state: RunState,
  facts: readonly FlowFact[],
  claimId: string,
  principal: string,
): void {
  const nodeId = ownNode(state, facts, claimId, principal)
  if (nodeId === null) return
  const message = `${showName(principal)} has answered for the node ${showName(nodeId)}, so this would be no independent evidence for ${showName(claimId)}; nothing was recorded`
  const hint = `let another person type it: writ flow evidence RUN ${claimId} --id ID --file FILE`
  throw faultError('flow.not_waiting', claimId, message, hint)
}

/** Whether a fact has this evidence, by anyone. */
function isSame({ type, payload }: FlowFact, given: Evidence): boolean {
  if (type !== 'flow_evidence_v1') return false
  const { evidence_id, claim_id, digest, supports } = payload.evidence
  const isOne = evidence_id === given.evidence_id && claim_id === given.claim_id
  return isOne && digest === given.digest && supports === given.supports
}

async function digestOf({ options }: CommandCall): Promise<string> {
  const [file, given] = [options.text('file'), options.text('digest')]
  if (file !== null) return digestBytes((await readSource(file)).bytes)
  if (given !== null && isDigest(given)) return given
  throw usageError('evidence is a file, or the digest of one (`sha256:…`)')
}
