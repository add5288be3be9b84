/**
 * `override_v1`: a human knowingly set aside one rule, within bounds. `law`: a law of tier 1, for one
 * action or for a time. `lift`: a permanent block of an intent. `release`: requests that the proxy
 * would refuse, to these hosts by these methods, before the one run that sends them.
 *
 * An override is bound to what it names, ends, and is used up: nothing here widens a scope.
 */
import * as Type from 'typebox'
import { DOCUMENT_LIMITS, show, showName } from '../../base/index.ts'
import { parseHost } from '../descriptor/web-address.ts'
import { type Contract, elements, field, type Subject } from '../kernel/contract.ts'
import { UUID_PATTERN } from '../kernel/schema.ts'
import {
  ActionId,
  checkMoments,
  checkOrder,
  closed,
  DigestText,
  demandField,
  Moment,
  Reason,
  refuseField,
  Word,
} from './shapes.ts'

const OVERRIDE_KINDS = ['law', 'lift', 'release'] as const

const OverrideSchema = Type.Object(
  {
    override_id: Type.String({
      pattern: UUID_PATTERN,
      'x-code': { pattern: 'id' },
      'x-says': 'a UUID',
    }),
    kind: Type.Enum([...OVERRIDE_KINDS]),
    policy_id: Type.Optional(Word),
    action_id: Type.Optional(ActionId),
    intent: Type.Optional(DigestText),
    operation_digest: Type.Optional(DigestText),
    /** Of the one proposal whose requests are released. */
    proposal_digest: Type.Optional(DigestText),
    hosts: Type.Optional(Type.Array(Type.String())),
    methods: Type.Optional(
      Type.Array(
        Type.String({
          pattern: '^[A-Z][A-Z0-9_-]*$',
          'x-code': { pattern: 'method' },
          'x-says': 'a method in capitals, such as `POST`',
        }),
      ),
    ),
    expires_at: Type.Optional(Moment),
    /** How often it may be used. */
    uses: Type.Integer({ minimum: 1, maximum: 1_000, 'x-code': 'count' }),
    reason: Reason,
    given_at: Moment,
  },
  closed,
)

export type Override = Type.Static<typeof OverrideSchema>

function checkKind(subject: Subject): void {
  const { document, report } = subject
  const uses = field(document, 'uses')
  const has = (name: string): boolean => Object.hasOwn(document, name)
  switch (field(document, 'kind')) {
    case 'law':
      demandField(subject, 'policy_id', 'of the law that is set aside')
      if (has('action_id') || has('expires_at')) return
      report.add(
        'gate_record.required',
        '/expires_at',
        'an override names one action or the time when it ends',
      )
      return
    case 'lift':
      refuseField(subject, 'policy_id', 'where a block is lifted')
      if (has('intent') || has('operation_digest')) return
      report.add('gate_record.required', '/intent', 'a lift names the intent or the operation')
      return
    case 'release':
      refuseField(subject, 'policy_id', 'where a request is released')
      demandField(subject, 'action_id', 'of the one proposal that is released')
      demandField(subject, 'proposal_digest', 'of the one proposal that is released')
      for (const name of ['hosts', 'methods']) demandSome(subject, name)
      if (typeof uses === 'number' && uses !== 1) {
        report.add('gate_record.count', '/uses', 'a release is used once')
      }
      return
    // The schema refuses an unknown kind.
    default:
  }
}

/** A list that is there and holds something. */
function demandSome(subject: Subject, name: string): void {
  demandField(subject, name, 'where a request is released')
  const list = field(subject.document, name)
  if (!Array.isArray(list) || list.length > 0) return
  subject.report.add('gate_record.empty', `/${name}`, `${showName(name)} names nothing`)
}

function checkHosts({ document, report }: Subject): void {
  for (const [index, host] of elements(field(document, 'hosts')).entries()) {
    if (typeof host !== 'string' || (!host.includes('*') && parseHost(host) !== null)) continue
    const message = `${show(host, '')} is not one exact host name`
    report.add('gate_record.host', `/hosts/${index}`, message)
  }
}

/** What only a release names. */
function checkReleased(subject: Subject): void {
  if (field(subject.document, 'kind') === 'release') return
  for (const name of ['proposal_digest', 'hosts', 'methods']) {
    refuseField(subject, name, 'where no request is released')
  }
}

export const overrideContract: Contract = {
  name: 'override_v1',
  title: 'A human set a law, a block or a refusal aside, knowing and bounded.',
  prefix: 'gate_record',
  schema: OverrideSchema,
  checks: [
    checkMoments(['given_at', 'expires_at']),
    checkOrder(['given_at', 'expires_at']),
    checkKind,
    checkReleased,
    checkHosts,
  ],
  limits: DOCUMENT_LIMITS,
  isRecord: true,
}
