/** `writ flow evidence`: a human brings evidence for a claim of a run, or against it (F-6). */
import { digestBytes, faultError, isDigest, showName } from '../../base/index.ts'
import { findRun, isWalked, leaveOrder, lookAtRun } from '../../runs/index.ts'
import { type CommandCall, EXIT, type Exit, usageError } from '../call/command.ts'
import { proveHuman, refuseOthers } from '../call/home.ts'
import { readSource } from '../call/source.ts'
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
    const { state } = await lookAtRun(host, run_id)
    if (!state.claimNodes.has(claimId)) {
      throw faultError('flow.not_waiting', claimId, `the run has no claim ${showName(claimId)}`)
    }
    const { kind, id, namespace } = host.principal
    const principal = `${kind}:${id}@${namespace}`
    const evidence = {
      evidence_id: evidenceId,
      claim_id: claimId,
      actor: principal,
      digest,
      supports: !options.isOn('against'),
    }
    leaveOrder(host, run_id, { kind: 'evidence', evidence, principal })
    const walked = await isWalked(host, run_id)
    const next = walked ? 'the process that walks it takes it' : `writ flow resume ${run_id}`
    await call.terminal.out(
      options.isOn('json')
        ? `${JSON.stringify({ ok: true, run_id, evidence, walked })}\n`
        : `recorded; ${next}\n`,
    )
    return EXIT.yes
  })
}

async function digestOf({ options }: CommandCall): Promise<string> {
  const [file, given] = [options.text('file'), options.text('digest')]
  if (file !== null) return digestBytes((await readSource(file)).bytes)
  if (given !== null && isDigest(given)) return given
  throw usageError('evidence is a file, or the digest of one (`sha256:…`)')
}
