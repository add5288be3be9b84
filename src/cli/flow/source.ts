/**
 * Flows for running: a flow document, an edge table, or a plan and who its agents are. Refused ones are
 * told whole.
 */
import { FaultError, fault, showName } from '../../base/index.ts'
import type { Violation } from '../../contracts/index.ts'
import { type CompiledFlow, compileFlow, readParticipants } from '../../flow/index.ts'
import { parseSource, readSource } from '../call/source.ts'
import { loadFlowFile } from './load.ts'

type FlowSource =
  | {
      readonly ok: true
      readonly flow: CompiledFlow
      readonly participantsDigest: string | null
      readonly warnings: readonly Violation[]
    }
  | { readonly ok: false; readonly violations: readonly Violation[] }

/**
 * `participants` names a file, for a plan; a plan that a human hands over counts as approved by him
 * (F-14). `side` names the side file of a table.
 */
export async function readFlow(
  name: string,
  participants: string | null,
  side: string | null = null,
): Promise<FlowSource> {
  const loaded = await loadFlowFile(name, { participants, side })
  const { kind, flow, valid, violations, warnings, participantsDigest } = loaded
  if (!valid || flow === null) return { ok: false, violations }
  if (kind === 'plan' && participants === null) {
    const message = 'a plan is run with participants'
    const hint = 'writ flow run PLAN --participants FILE'
    throw new FaultError(fault('cli.usage', '', null, { message, hint }))
  }
  // What is checked follows its contract.
  const compilation = compileFlow(flow)
  if (!compilation.ok) throw new Error('a flow that was checked compiles')
  return { ok: true, flow: compilation.flow, participantsDigest, warnings }
}

export async function participantsIn(name: string) {
  const reading = await parseSource(await readSource(name))
  if (!reading.ok) {
    const { code, message } = reading.refusal
    const words = `the participants ${showName(name)} are refused: ${message} (${code})`
    throw new FaultError(fault('cli.usage', name, null, { message: words }))
  }
  return readParticipants(reading.value)
}
