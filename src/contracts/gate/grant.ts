/**
 * `grant_v1`: a human answered "always" at a question of an agent (G-8b): this agent may create and change
 * what lies in one directory of the workspace, for some days and some acts; or a human took that back.
 *
 * A grant spares the default question alone. Deletions, laws, effect classes, files that run later by
 * themselves and cooldowns are asked about as before.
 */
import * as Type from 'typebox'
import { DOCUMENT_LIMITS, show } from '../../base/index.ts'
import { type Contract, field, type Subject } from '../kernel/contract.ts'
import { UUID_PATTERN } from '../kernel/schema.ts'
import {
  ActionId,
  checkMoments,
  checkOrder,
  closed,
  demandField,
  Moment,
  momentMs,
  refuseField,
  Word,
} from './shapes.ts'

const GRANT_EVENTS = ['GIVEN', 'REVOKED'] as const

export const GRANT_USES_MAX = 50
const DAY_MS = 24 * 60 * 60 * 1000
export const GRANT_MS_MAX = 14 * DAY_MS

const OF_GIVING = ['action_id', 'agent', 'glob', 'uses', 'until']

const GrantSchema = Type.Object(
  {
    grant_id: Type.String({
      pattern: UUID_PATTERN,
      'x-code': { pattern: 'id' },
      'x-says': 'a UUID',
    }),
    event: Type.Enum([...GRANT_EVENTS]),
    at: Moment,
    /** The act whose question was answered. */
    action_id: Type.Optional(ActionId),
    agent: Type.Optional(Word),
    /** Relative to the workspace: `DIR/*`, `DIR/**`, or one file at its top. */
    glob: Type.Optional(Word),
    /** For how many acts. */
    uses: Type.Optional(Type.Integer({ minimum: 1, maximum: GRANT_USES_MAX, 'x-code': 'count' })),
    until: Type.Optional(Moment),
  },
  closed,
)

export type GrantFact = Type.Static<typeof GrantSchema>

function checkEvent(subject: Subject): void {
  const event = field(subject.document, 'event')
  for (const name of OF_GIVING) {
    if (event === 'GIVEN') demandField(subject, name, 'where a grant is given')
    else if (event === 'REVOKED') refuseField(subject, name, 'where a grant is taken back')
  }
}

/** A path below the workspace, with a star at its end at most. */
const NARROW_GLOB = /^[^/~*?[\]{}]+(?:\/[^/*?[\]{}]+)*(?:\/\*{1,2})?$/
const DOTS = /(?:^|\/)\.{1,2}(?:\/|$)/

function checkGlob({ document, report }: Subject): void {
  const glob = field(document, 'glob')
  if (typeof glob !== 'string' || (NARROW_GLOB.test(glob) && !DOTS.test(glob))) return
  const message = `${show(glob, '')} is not one directory or file of the workspace`
  report.add('gate_record.path', '/glob', message)
}

function checkSpan({ document, report }: Subject): void {
  const [from, until] = [momentMs(field(document, 'at')), momentMs(field(document, 'until'))]
  if (from === null || until === null || until - from <= GRANT_MS_MAX) return
  report.add('gate_record.count', '/until', 'a grant ends after 14 days at the latest')
}

export const grantContract: Contract = {
  name: 'grant_v1',
  title:
    'A human let an agent create and change what lies in one directory, bounded; or took it back.',
  prefix: 'gate_record',
  schema: GrantSchema,
  checks: [
    checkMoments(['at', 'until']),
    checkOrder(['at', 'until']),
    checkEvent,
    checkGlob,
    checkSpan,
  ],
  limits: DOCUMENT_LIMITS,
  isRecord: true,
}
