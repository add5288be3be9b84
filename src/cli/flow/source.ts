/** Flows for running: a flow document, or a plan and who its agents are. Refused ones are told whole. */
import { fault, showName } from '../../base/index.ts'
import {
  type Flow,
  isObject,
  judge,
  type PlanJson,
  planJson,
  type Violation,
} from '../../contracts/index.ts'
import {
  type CompiledFlow,
  checkFlow,
  compileFlow,
  planToFlow,
  readParticipants,
} from '../../flow/index.ts'
import { Stop } from '../command.ts'
import { parseSource, readSource } from '../source.ts'

export type FlowSource =
  | {
      readonly ok: true
      readonly flow: CompiledFlow
      readonly participantsDigest: string | null
      readonly warnings: readonly Violation[]
    }
  | { readonly ok: false; readonly violations: readonly Violation[] }

/** `participants` names a file, for a plan. */
export async function readFlow(name: string, participants: string | null): Promise<FlowSource> {
  const document = await readDocument(name)
  if (isRefused(document)) return { ok: false, violations: [document.refusal] }
  const { value } = document
  if (!isPlan(value)) return checked(value, null)
  return fromPlan(value, participants)
}

export type ReadDocument = Awaited<ReturnType<typeof readDocument>>

export async function readDocument(name: string) {
  return parseSource(await readSource(name))
}

export function isRefused(
  reading: ReadDocument,
): reading is Extract<ReadDocument, { readonly ok: false }> {
  return !reading.ok
}

function isPlan(value: unknown): boolean {
  return isObject(value) && Object.hasOwn(value, 'plan') && Object.hasOwn(value, 'nodes')
}

function checked(document: unknown, participantsDigest: string | null): FlowSource {
  const { valid, violations, warnings } = checkFlow(document)
  if (!valid) return { ok: false, violations }
  // What is checked follows its contract.
  const compilation = compileFlow(document as Flow)
  if (!compilation.ok) throw new Error('a flow that was checked compiles')
  return { ok: true, flow: compilation.flow, participantsDigest, warnings }
}

/** A plan that a human hands over counts as approved by him (F-14). */
async function fromPlan(document: unknown, participants: string | null): Promise<FlowSource> {
  const { valid, violations } = judge(planJson, document)
  if (!valid) return { ok: false, violations }
  if (participants === null) {
    const message = 'a plan is run with participants'
    const hint = 'writ flow run PLAN --participants FILE'
    throw new Stop(fault('cli.usage', '', null, { message, hint }))
  }
  const named = await participantsIn(participants)
  if (!named.ok) return named
  const made = planToFlow(document as PlanJson, named.participants)
  if (made.violations.length > 0) return { ok: false, violations: made.violations }
  return checked(made.flow, named.digest)
}

export async function participantsIn(name: string) {
  const reading = await readDocument(name)
  if (!reading.ok) {
    const { code, message } = reading.refusal
    const words = `the participants ${showName(name)} are refused: ${message} (${code})`
    throw new Stop(fault('cli.usage', name, null, { message: words }))
  }
  return readParticipants(reading.value)
}
