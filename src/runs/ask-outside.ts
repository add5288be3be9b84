/**
 * Asks a participant for something outside a run: a plan, or the tools of a server. It works in an
 * attempt of its own, of which nothing is kept.
 */
import { randomUUID } from 'node:crypto'
import { type FlowHost, refuseHalted, untilHalted } from './flow-host.ts'
import { LiveAttempt } from './live-attempt.ts'
import type { ParticipantRequest } from './participant/participant-request.ts'
import { documentWithoutSecrets, secretsOf } from './participant/secrets.ts'

interface OutsideOrder
  extends Pick<ParticipantRequest, 'participant' | 'input' | 'kind' | 'workspace' | 'seconds'> {
  readonly intent: string
  readonly abort: AbortSignal
  /** The cap on the attempt itself; null for the usual one. */
  readonly attemptSeconds: number | null
}

export async function askOutside<T>(
  host: FlowHost,
  { intent, abort, attemptSeconds, ...order }: OutsideOrder,
  ask: (request: ParticipantRequest) => Promise<T>,
): Promise<T> {
  const { participant, workspace } = order
  const secrets = secretsOf(participant, host.environment)
  const live = new LiveAttempt(() =>
    host.attempts.begin({
      actionId: randomUUID(),
      intent,
      workspace,
      writes: ['**'],
      bases: [],
      hidden: [],
      readOnly: [],
      egress: participant.egress ?? [],
      secrets,
      limits: { seconds: attemptSeconds, memoryMb: null, diskMb: null },
      isTraced: false,
      abort,
    }),
  )
  const asking: Omit<ParticipantRequest, 'signal'> = {
    ...order,
    attempt: () => live.open(),
    refuseHalted: () => refuseHalted(host),
    operate: async (operation) =>
      (await live.open()).operate(documentWithoutSecrets(operation, secrets)),
    secrets,
    tokensLeft: () => Number.POSITIVE_INFINITY,
    onTokens: () => {},
  }
  try {
    return await untilHalted(host, abort, (signal) => ask({ ...asking, signal }))
  } finally {
    await live.abandon()
  }
}
