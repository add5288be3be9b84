/**
 * `participants_v1`: who the agents of a plan are. A person writes it; the participants become part of
 * the flow and so of its digest. Names are those of `owner_agent_id`.
 *
 * Deliberately absent: secrets. `secrets` of a participant names variables, never their values.
 */
import * as Type from 'typebox'
import { at, DOCUMENT_LIMITS, showName } from '../../base/index.ts'
import { type Contract, field, isObject, type Subject } from '../kernel/contract.ts'
import { closed, Name, type Participant, ParticipantSchema } from './shapes.ts'

const Role = Type.Optional(Name)

const ParticipantsSchema = Type.Object(
  {
    type: Type.Literal('participants_v1', { 'x-code': 'type_const' }),
    participants: Type.Unsafe<Readonly<Record<string, Participant>>>(
      Type.Object(
        {},
        {
          additionalProperties: ParticipantSchema,
          minProperties: 1,
          'x-code': { minProperties: 'empty' },
        },
      ),
    ),
    /** Who judges work that no CHECK of the plan judges. */
    reviewer: Role,
    /** Who makes plans. */
    planner: Role,
  },
  closed,
)

export type Participants = Type.Static<typeof ParticipantsSchema>

/** Checks that each role names a participant of the list. */
function checkRoles({ document, report }: Subject): void {
  const participants = field(document, 'participants')
  if (!isObject(participants)) return
  for (const role of ['reviewer', 'planner']) {
    const name = field(document, role)
    if (typeof name !== 'string' || name === '' || Object.hasOwn(participants, name)) continue
    report.add(
      'flow.unknown_ref',
      at('', role),
      `there is no participant ${showName(name)}`,
      report.guess(name, Object.keys(participants)),
    )
  }
}

export const participantsContract: Contract = {
  name: 'participants_v1',
  title: 'Who the agents of a plan are: a program, an endpoint, a tool, a model or a person each.',
  prefix: 'flow',
  schema: ParticipantsSchema,
  checks: [checkRoles],
  limits: DOCUMENT_LIMITS,
  isRecord: false,
}
