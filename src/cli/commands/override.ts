/**
 * `writ override`: a human sets a law of tier 1 aside, for one intent or for a time, or lifts a
 * permanent block. Both are facts with a reason, bounded in number and time. What names an action is
 * recorded in the stream in which the action was decided.
 */
import { fault, isDigest } from '../../base/index.ts'
import type { OverrideOrder } from '../../host/index.ts'
import { type Call, EXIT, type Exit, Stop } from '../command.ts'
import { deciderOf } from '../gate/decider.ts'
import { withGates } from '../gate/open.ts'
import { requireHuman } from '../home.ts'

export async function run(call: Call): Promise<Exit> {
  const order = readOrder(call)
  return withGates(call, async (sessions) => {
    const { gate, session } = await deciderOf(sessions, actionOf(order))
    await requireHuman(session, call, 'overriding')
    const answer = await gate.override(order)
    const { terminal, options } = call
    await terminal.out(
      options.isOn('json') ? `${JSON.stringify(answer)}\n` : `${terminal.paint.good('recorded')}\n`,
    )
    return EXIT.yes
  })
}

function readOrder({ options }: Call): OverrideOrder {
  const [law, action, time, lift] = ['law', 'action', 'for', 'lift'].map((name) =>
    options.text(name),
  )
  const reason = options.text('reason') ?? ''
  if (reason.trim() === '') throw usage('say why with `--reason`')
  const hasLaw = typeof law === 'string' && law !== ''
  const hasLift = typeof lift === 'string' && lift !== ''
  if (hasLaw === hasLift) throw usage('name a law with `--law`, or a block with `--lift`')
  if (hasLift) return { kind: 'lift', of: lift, reason }
  const forMs = time == null ? null : durationMs(time)
  if (action == null && forMs === null) throw usage('say `--action ID` or `--for DURATION`')
  const uses = usesOf(options.text('uses') ?? '1')
  return { kind: 'law', policyId: law as string, actionId: action ?? null, forMs, uses, reason }
}

function actionOf(order: OverrideOrder): string | null {
  if (order.kind === 'law') return order.actionId
  return order.kind === 'lift' && !isDigest(order.of) ? order.of : null
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

function usage(message: string): Stop {
  return new Stop(fault('cli.usage', '', null, { message, hint: '`writ override --help`' }))
}
