/** Actions: proposed, looked at. */
import * as Type from 'typebox'
import { route } from '../shape/route.ts'
import {
  ConfirmationDocument,
  closed,
  DecisionDocument,
  Id,
  Moment,
  nullable,
  PrincipalShape,
  PromotionDocument,
  ProposalDocument,
  RequestDocument,
  ResultDocument,
  RollbackDocument,
  recorded,
  StreamName,
} from '../shape/shapes.ts'

const STATUSES = [
  'promoted',
  'no effects',
  'waiting',
  'denied',
  'expired',
  'superseded',
  'blocked',
  'failed',
  'undone',
  'put back',
  'approved',
  'held',
  'unfinished',
  'interrupted',
  'unknown',
] as const

/** An act as its facts tell it. */
const Act = Type.Object(
  {
    action_id: Type.String(),
    stream: StreamName,
    status: Type.Enum([...STATUSES]),
    at: Moment,
    by: PrincipalShape,
    /** What was to be done, in one line; null where the proposal is no longer kept. */
    what: nullable(Type.String()),
    proposal: recorded(ProposalDocument),
    result: recorded(ResultDocument),
    decision: recorded(DecisionDocument),
    answers: Type.Array(recorded(ConfirmationDocument)),
    promotion: recorded(PromotionDocument),
    requests: Type.Array(recorded(RequestDocument)),
    rollback: recorded(RollbackDocument),
  },
  closed,
)

/** The decision of a dry run, of which nothing is recorded. */
const DryRun = Type.Object(
  {
    action_id: Type.String(),
    decision: DecisionDocument,
    result: nullable(ResultDocument),
  },
  closed,
)

/** An action that is not decided yet. */
const UnderWay = Type.Object({ action_id: Type.String() }, closed)

export const ACTION_ROUTES = {
  proposeAction: route({
    method: 'POST',
    path: '/v1/actions',
    tag: 'actions',
    says: 'Proposes an action: it is checked, rehearsed, compared, decided, and promoted or asked about.',
    who: 'caller',
    command: 'propose',
    spoken: { kind: 'act', words: ['proposal'], input: 'proposal', isWhole: true },
    query: Type.Object(
      { stream: Type.Optional(StreamName), dry_run: Type.Optional(Type.Boolean()) },
      closed,
    ),
    body: ProposalDocument,
    answers: { 200: Type.Union([Act, DryRun]), 202: Type.Union([Act, UnderWay]) },
  }),
  listActions: route({
    method: 'GET',
    path: '/v1/actions',
    tag: 'actions',
    says: 'Lists what was done, the newest first.',
    who: 'caller',
    command: 'log',
    query: Type.Object(
      {
        stream: Type.Optional(StreamName),
        since: Type.Optional(Moment),
        until: Type.Optional(Moment),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200 })),
      },
      closed,
    ),
    answers: { 200: Type.Object({ actions: Type.Array(Act) }, closed) },
  }),
  showAction: route({
    method: 'GET',
    path: '/v1/actions/{id}',
    tag: 'actions',
    says: 'Shows everything about one action.',
    who: 'caller',
    command: 'show',
    params: Type.Object({ id: Id }, closed),
    answers: { 200: Act },
  }),
}

export type ActDocument = Type.Static<typeof Act>
