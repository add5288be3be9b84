/**
 * `session_v1`: a coding agent began to work in a session, went on after an interruption, or ended; it
 * used its model or the network (S-7); a person gave it more time or a larger budget, or took changes out
 * of its view (S-0, S-11, S-12a). What it changed is on the record
 * act by act, with the session's id in `evaluation_v1`.
 */
import * as Type from 'typebox'
import { DOCUMENT_LIMITS } from '../../base/index.ts'
import { type Contract, field, type Subject } from '../kernel/contract.ts'
import { UUID_PATTERN } from '../kernel/schema.ts'
import {
  ActionId,
  Count,
  checkMoments,
  closed,
  demandField,
  Moment,
  refuseField,
  TRUST_LEVELS,
  Word,
} from './shapes.ts'

const SESSION_EVENTS = ['STARTED', 'RESUMED', 'USED', 'EXTENDED', 'DISCARDED', 'ENDED'] as const
const SETTLE_MODES = ['auto', 'tool', 'end', 'never'] as const
/** Hooks only, or a sandbox around the agent itself (S-14). */
const CONFINEMENTS = ['advisory', 'confined'] as const
/** The program ended, a person stopped it, a limit was reached, or its process was lost. */
const SESSION_ENDS = ['exited', 'stopped', 'limit', 'lost'] as const

/** Fields that say how a session works; of its start alone. */
const OF_START = ['action_id', 'agent', 'workspace', 'scope', 'settle', 'confinement', 'custody']
/** Fields that say how it ended. */
const OF_END = ['ended', 'settles', 'pending']

const PathText = Type.String({
  pattern: '^/',
  'x-code': { pattern: 'path' },
  'x-says': 'an absolute path',
})

/** What a session may ask of its model; absent without a bound. Cost is in millionths of the unit of prices. */
const BudgetSchema = Type.Object(
  {
    requests: Type.Optional(Count),
    tokens: Type.Optional(Count),
    cost_micros: Type.Optional(Count),
  },
  closed,
)

/** What its model was asked for since the session began; never contents. */
const ModelUseSchema = Type.Object(
  {
    requests: Count,
    failures: Count,
    milliseconds: Count,
    input_tokens: Count,
    output_tokens: Count,
    /** Those of `input_tokens` that the model's host had kept from before. */
    cached_tokens: Type.Optional(Count),
    /** By the prices in the laws, in millionths of their unit; absent where there are none. */
    cost_micros: Type.Optional(Count),
    /** Requests that used tokens and whose model has no price. */
    unpriced: Type.Optional(Count),
  },
  closed,
)

/** Connections to one host since the session began. */
const HostUseSchema = Type.Object(
  {
    host: Word,
    passed: Count,
    refused: Count,
    failed: Count,
    bytes_sent: Count,
    bytes_received: Count,
  },
  closed,
)

const SessionSchema = Type.Object(
  {
    session_id: Type.String({
      pattern: UUID_PATTERN,
      'x-code': { pattern: 'id' },
      'x-says': 'a UUID',
    }),
    event: Type.Enum([...SESSION_EVENTS]),
    at: Moment,
    /** The descriptor under which the agent runs. */
    action_id: Type.Optional(ActionId),
    /** The name of the program, or of the adapter that knows it. */
    agent: Type.Optional(Word),
    workspace: Type.Optional(PathText),
    scope: Type.Optional(Type.Array(PathText)),
    settle: Type.Optional(Type.Enum([...SETTLE_MODES])),
    confinement: Type.Optional(Type.Enum([...CONFINEMENTS])),
    custody: Type.Optional(Type.Enum([...TRUST_LEVELS])),
    /** Until when it may run; a person moves it. */
    until: Type.Optional(Moment),
    budget: Type.Optional(BudgetSchema),
    model: Type.Optional(ModelUseSchema),
    network: Type.Optional(Type.Array(HostUseSchema)),
    /** Paths that a person took out of the view. */
    paths: Type.Optional(Type.Array(PathText)),
    ended: Type.Optional(Type.Enum([...SESSION_ENDS])),
    exit_code: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
    settles: Type.Optional(Count),
    /** How many changes were left in the view. */
    pending: Type.Optional(Count),
  },
  closed,
)

export type SessionFact = Type.Static<typeof SessionSchema>
export type SessionModelUse = NonNullable<SessionFact['model']>
export type SessionHostUse = NonNullable<SessionFact['network']>[number]

/** Each event has its own fields. */
function checkEvent(subject: Subject): void {
  const event = field(subject.document, 'event')
  const isStart = event === 'STARTED'
  for (const name of OF_START) {
    if (isStart) demandField(subject, name, 'where a session begins')
    else if (typeof event === 'string') refuseField(subject, name, 'after the start of a session')
  }
  for (const name of OF_END) {
    if (event === 'ENDED') demandField(subject, name, 'where a session ends')
    else if (typeof event === 'string') refuseField(subject, name, 'before the end of a session')
  }
  if (event === 'DISCARDED') demandField(subject, 'paths', 'where changes are discarded')
  if (event === 'EXTENDED' && field(subject.document, 'budget') === undefined) {
    demandField(subject, 'until', 'where a session gets more time')
  }
  if (event === 'USED') {
    demandField(subject, 'model', 'where a session used its model or the network')
    demandField(subject, 'network', 'where a session used its model or the network')
  } else if (typeof event === 'string' && event !== 'ENDED') {
    refuseField(subject, 'model', 'where a session used nothing')
    refuseField(subject, 'network', 'where a session used nothing')
  }
}

export const sessionContract: Contract = {
  name: 'session_v1',
  title:
    'A session of a coding agent began, went on, used its model or the network, was changed by a person, or ended.',
  prefix: 'gate_record',
  schema: SessionSchema,
  checks: [checkMoments(['at', 'until']), checkEvent],
  limits: DOCUMENT_LIMITS,
  isRecord: true,
}
