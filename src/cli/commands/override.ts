/**
 * `writ override`: a human sets a law of tier 1 aside, for one intent or for a time, lifts a permanent
 * block, or releases requests of one proposal before it runs. All are facts with a reason, bounded. What names an action is
 * recorded in the stream in which the action was decided.
 */
import { DOCUMENT_LIMITS, FaultError, fault, faultError, isDigest } from '../../base/index.ts'
import { field, isObject } from '../../contracts/index.ts'
import type { OverrideOrder } from '../../service/index.ts'
import { type CommandCall, EXIT, type Exit, usageError } from '../call/command.ts'
import { credentialOf, requireHuman, type Session } from '../call/home.ts'
import { parseSource, readSource } from '../call/source.ts'
import { deciderOf, wholeIdOf } from '../gate/named-question.ts'
import { type GateSession, withGates } from '../gate/open.ts'

export async function run(call: CommandCall): Promise<Exit> {
  const read = await readOrder(call)
  return withGates(call, async (sessions) => {
    const order = await wholeOrder(sessions, read)
    const { gate, session } = await deciderOf(sessions, actionOf(order))
    if (order.kind === 'release') requireCredential(session)
    await requireHuman(session, call, 'overriding')
    const answer = await gate.override(order)
    const { terminal, options } = call
    const text = 'lifted' in answer ? NOT_BLOCKED : terminal.paint.good('recorded')
    await terminal.out(`${options.isOn('json') ? JSON.stringify(answer) : text}\n`)
    return EXIT.yes
  })
}

const NOT_BLOCKED =
  'nothing to lift: neither a block nor a cooldown holds for it; `writ show ID` tells what became of it'

/** With the whole id where an action is named by a beginning of it. */
async function wholeOrder(
  sessions: readonly GateSession[],
  order: OverrideOrder,
): Promise<OverrideOrder> {
  if (order.kind === 'law' && order.actionId !== null) {
    return { ...order, actionId: await wholeIdOf(sessions, order.actionId) }
  }
  if (order.kind !== 'lift' || isDigest(order.of)) return order
  return { ...order, of: await wholeIdOf(sessions, order.of) }
}

/** Fails if no passphrase is set: requests cannot be taken back, so a plain yes is not enough. */
function requireCredential(session: Session): void {
  if (credentialOf(session) !== null) return
  const message = 'releasing needs the passphrase of a human, and none is set yet'
  const hint = 'set one with `writ principal pass`, then run this again'
  throw faultError('credential.required', '', message, hint)
}

async function readOrder(call: CommandCall): Promise<OverrideOrder> {
  const { options } = call
  const [law, action, time, lift] = ['law', 'action', 'for', 'lift'].map((name) =>
    options.text(name),
  )
  const reason = options.text('reason') ?? ''
  if (reason.trim() === '') throw usage('say why with `--reason`')
  const release = options.text('release')
  if (release !== null) return readRelease(call, release, reason)
  const hasLaw = typeof law === 'string' && law !== ''
  const hasLift = typeof lift === 'string' && lift !== ''
  if (hasLift && !hasLaw) return { kind: 'lift', of: lift, reason }
  if (hasLift || !hasLaw) throw usage('name a law with `--law`, or a block with `--lift`')
  const forMs = time == null ? null : durationMs(time)
  if (action == null && forMs === null) throw usage('say `--action ID` or `--for DURATION`')
  const uses = usesOf(options.text('uses') ?? '1')
  return { kind: 'law', policyId: law, actionId: action ?? null, forMs, uses, reason }
}

async function readRelease({ options }: CommandCall, file: string, reason: string) {
  const [hosts, methods] = [options.texts('host'), options.texts('method')]
  if (hosts.length === 0 || methods.length === 0) {
    throw usage('name what is released with `--host` and `--method`')
  }
  const reading = await parseSource(await readSource(file), DOCUMENT_LIMITS)
  if (!reading.ok) throw new FaultError(fault('override.release', file, null, reading.refusal))
  return { kind: 'release', proposal: reading.value, hosts, methods, reason } as const
}

function actionOf(order: OverrideOrder): string | null {
  if (order.kind === 'law') return order.actionId
  // Facts about a proposal without a decision go to the caller's stream.
  if (order.kind === 'release') return actionIdOf(order.proposal)
  return order.kind === 'lift' && !isDigest(order.of) ? order.of : null
}

function actionIdOf(proposal: unknown): string | null {
  const descriptor = isObject(proposal) ? field(proposal, 'descriptor') : null
  const id = field(descriptor, 'action_id')
  return typeof id === 'string' ? id : null
}

function usesOf(text: string): number {
  const uses = Number(text)
  if (/^\d{1,4}$/.test(text) && uses >= 1 && uses <= 1_000) return uses
  throw usage('`--uses` is a number from 1 to 1000')
}

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 }
const LONGEST_MS = 24 * 3_600_000

function durationMs(text: string): number {
  const match = /^([1-9]\d{0,5})([smh])$/.exec(text)
  const ms = Number(match?.[1] ?? Number.NaN) * (UNITS[match?.[2] ?? ''] ?? Number.NaN)
  if (ms <= LONGEST_MS) return ms
  throw usage('a duration is a number with s, m or h, and at most a day')
}

function usage(message: string): FaultError {
  return usageError(message, '`writ override --help`')
}
