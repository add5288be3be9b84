/**
 * `flow_test_v1`: how a flow is expected to be walked. Each case says what participants answer, what
 * people and the world do, and what has to come of it.
 *
 * Deliberately absent: whether the names are those of the flow, which is another file. The room that
 * walks flows compares them.
 */
import * as Type from 'typebox'
import { at, GRAPH_LIMITS } from '../../../base/index.ts'
import { ARTIFACT_FORMATS, RESULT_TYPES } from '../../agent/action.ts'
import { REVIEW_ACTIONS } from '../../agent/review.ts'
import { type Contract, elements, field, isObject, type Subject } from '../../kernel/contract.ts'
import { reportRepeat } from '../graph-checks.ts'
import { FINDING_ACTIONS, FINDING_CODES } from '../records/vocabulary.ts'
import {
  Attempts,
  BudgetsSchema,
  closed,
  Duration,
  EvidenceDigest,
  Name,
  Names,
  WORKSPACE_PATTERN,
} from '../shapes.ts'
import { ACCESS_MODES, TRUST_LEVELS, VERIFICATION_STATUSES } from '../vocabulary.ts'

const Count = Type.Integer({ minimum: 0, 'x-code': { minimum: 'range' } })

/** A table from names that the author chooses to values of one shape. */
function tableOf<T extends Type.TSchema>(values: T) {
  return Type.Unsafe<Readonly<Record<string, Type.Static<T>>>>(
    Type.Object({}, { additionalProperties: values }),
  )
}

/** Files by path: a text, JSON that is written as such, or null for a file that is removed. */
const FilesSchema = Type.Unsafe<Readonly<Record<string, unknown>>>(Type.Object({}))

/** What a scripted participant fails with: exactly one of these. */
const FailureSchema = Type.Union(
  [
    Type.Object({ exit_status: Type.Integer(), stderr: Type.Optional(Type.String()) }, closed),
    Type.Object({ http_status: Type.Integer(), body: Type.Optional(Type.String()) }, closed),
    Type.Object({ unreachable: Type.Literal(true) }, closed),
    Type.Object({ timeout: Type.Literal(true) }, closed),
  ],
  {
    'x-choose': ['exit_status', 'http_status', 'unreachable', 'timeout'],
    'x-code': { anyOf: 'test_entry' },
  },
)

const ScriptedClaimSchema = Type.Object(
  {
    claim_id: Name,
    text: Type.Optional(Type.String()),
    trust_level: Type.Optional(Type.Enum([...TRUST_LEVELS])),
  },
  closed,
)

const ScriptedEvidenceSchema = Type.Object(
  {
    evidence_id: Name,
    claim_id: Name,
    digest: Type.Optional(EvidenceDigest),
    supports: Type.Optional(Type.Boolean()),
  },
  closed,
)

const NeedSchema = Type.Object(
  {
    name: Name,
    description: Type.Optional(Type.String()),
    accepted_types: Type.Optional(Type.Array(Type.String())),
    suggested_path: Type.Optional(Type.String()),
  },
  closed,
)

/** What one attempt at a node does; everything that is left out is as usual. */
const ScriptedAttemptSchema = Type.Object(
  {
    times: Type.Optional(Attempts),
    result: Type.Optional(Type.Enum([...RESULT_TYPES])),
    content: Type.Optional(Type.String()),
    name: Type.Optional(Name),
    format: Type.Optional(Type.Enum([...ARTIFACT_FORMATS])),
    files: Type.Optional(FilesSchema),
    reads: Type.Optional(Names),
    error: Type.Optional(
      Type.Object({ code: Name, message: Type.Optional(Type.String()) }, closed),
    ),
    needs: Type.Optional(Type.Array(NeedSchema)),
    verdict: Type.Optional(Type.Enum([...REVIEW_ACTIONS, 'REJECT'])),
    score: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 100, 'x-code': { minimum: 'range', maximum: 'range' } }),
    ),
    suggestions: Type.Optional(Type.Array(Type.String())),
    message: Type.Optional(Type.String()),
    summary: Type.Optional(Type.String()),
    claims: Type.Optional(Type.Array(ScriptedClaimSchema)),
    evidence: Type.Optional(Type.Array(ScriptedEvidenceSchema)),
    task_id: Type.Optional(Name),
    outputs: Type.Optional(Type.Array(Type.String())),
    tools: Type.Optional(Count),
    blocked: Type.Optional(Names),
    promotion: Type.Optional(Type.Literal('refused')),
    seconds: Type.Optional(Duration),
    tokens: Type.Optional(Count),
    failure: Type.Optional(FailureSchema),
    by: Type.Optional(Name),
  },
  closed,
)

/** What people and the world do when no participant is at work, one after the other. */
const TestEventSchema = Type.Union(
  [
    Type.Object(
      {
        answer: Type.Enum(['retry', 'abandon', 'provided', 'unblock']),
        node: Name,
        files: Type.Optional(FilesSchema),
        by: Type.Optional(Name),
      },
      closed,
    ),
    Type.Object(
      { signal: Name, data: Type.Optional(Type.Unsafe<unknown>({})), by: Type.Optional(Name) },
      closed,
    ),
    Type.Object({ pass: Duration }, closed),
    Type.Object({ skip: Name, comment: Type.Optional(Type.String()) }, closed),
    Type.Object({ cancel: Type.Literal(true) }, closed),
    Type.Object({ evidence: ScriptedEvidenceSchema, by: Type.Optional(Name) }, closed),
    Type.Object({ budget: BudgetsSchema }, closed),
    Type.Object({ write: FilesSchema }, closed),
    Type.Object({ resume: Type.Object({ changed: Type.Optional(Names) }, closed) }, closed),
    Type.Object({ stop: Type.Literal(true) }, closed),
  ],
  {
    'x-choose': [
      'answer',
      'signal',
      'pass',
      'skip',
      'cancel',
      'evidence',
      'budget',
      'write',
      'resume',
      'stop',
    ],
    'x-code': { anyOf: 'test_entry' },
  },
)

const RUN_ENDS = ['DONE', 'BLOCKED', 'WAITING', 'FAILED', 'CANCELLED'] as const

const ExpectedFindingSchema = Type.Object(
  {
    code: Type.Enum([...FINDING_CODES]),
    node: Type.Optional(Name),
    edge: Type.Optional(Name),
    policy: Type.Optional(Name),
    invariant: Type.Optional(Name),
    claim: Type.Optional(Name),
    action: Type.Optional(Type.Enum([...FINDING_ACTIONS])),
    times: Type.Optional(Attempts),
  },
  closed,
)

const ExpectedAccessSchema = Type.Object(
  { node: Name, path: Name, mode: Type.Enum([...ACCESS_MODES]) },
  closed,
)

const ExpectedPoliciesSchema = Type.Object(
  { won: Type.Optional(Names), lost: Type.Optional(Names), triggered: Type.Optional(Names) },
  closed,
)

/** What has to come of a case; what is left out is not looked at. */
const ExpectationSchema = Type.Object(
  {
    status: Type.Optional(Type.Enum([...RUN_ENDS])),
    nodes: Type.Optional(Names),
    edges: Type.Optional(Names),
    passes: Type.Optional(Names),
    avoids: Type.Optional(Names),
    attempts: Type.Optional(tableOf(Count)),
    state: Type.Optional(
      tableOf(Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()])),
    ),
    findings: Type.Optional(
      Type.Array(Type.Union([Type.Enum([...FINDING_CODES]), ExpectedFindingSchema])),
    ),
    lacks: Type.Optional(Type.Array(Type.Enum([...FINDING_CODES]))),
    policies: Type.Optional(ExpectedPoliciesSchema),
    claims: Type.Optional(tableOf(Type.Enum([...VERIFICATION_STATUSES]))),
    refused: Type.Optional(Type.Array(ExpectedAccessSchema)),
    waits_at: Type.Optional(Names),
    logged: Type.Optional(Names),
    files: Type.Optional(FilesSchema),
  },
  closed,
)

const TestCaseSchema = Type.Object(
  {
    name: Name,
    files: Type.Optional(FilesSchema),
    nodes: Type.Optional(tableOf(Type.Array(ScriptedAttemptSchema))),
    events: Type.Optional(Type.Array(TestEventSchema)),
    log: Type.Optional(Type.Literal('unwritable')),
    expect: ExpectationSchema,
  },
  closed,
)

const FlowTestSchema = Type.Object(
  {
    type: Type.Literal('flow_test_v1', { 'x-code': 'type_const' }),
    flow: Name,
    side: Type.Optional(Name),
    participants: Type.Optional(Name),
    files: Type.Optional(FilesSchema),
    cases: Type.Array(TestCaseSchema, { minItems: 1, 'x-code': { minItems: 'empty' } }),
  },
  closed,
)

export type FlowTest = Type.Static<typeof FlowTestSchema>
export type FlowTestCase = Type.Static<typeof TestCaseSchema>
export type ScriptedAttempt = Type.Static<typeof ScriptedAttemptSchema>
export type FlowTestEvent = Type.Static<typeof TestEventSchema>
export type FlowExpectation = Type.Static<typeof ExpectationSchema>
export type ExpectedFinding = Type.Static<typeof ExpectedFindingSchema>

function checkNames({ document, report }: Subject): void {
  const seen = new Set<string>()
  const cases = elements(document['cases'])
  for (let index = 0; index < cases.length; index++) {
    const name = field(cases[index], 'name')
    if (typeof name === 'string') reportRepeat(seen, name, `/cases/${index}/name`, report)
  }
}

/** Every table of files in a test, with its pointer. */
function* filesIn(document: Subject['document']): Iterable<[files: unknown, path: string]> {
  yield [document['files'], '/files']
  const cases = elements(document['cases'])
  for (let index = 0; index < cases.length; index++) {
    const place = `/cases/${index}`
    yield [field(cases[index], 'files'), `${place}/files`]
    yield [field(field(cases[index], 'expect'), 'files'), `${place}/expect/files`]
    for (const [event, path] of listed(field(cases[index], 'events'), `${place}/events`)) {
      yield [field(event, 'files'), `${path}/files`]
      yield [field(event, 'write'), `${path}/write`]
    }
    for (const [attempt, path] of attemptsIn(cases[index], place))
      yield [field(attempt, 'files'), `${path}/files`]
  }
}

function* listed(list: unknown, place: string): Iterable<[item: unknown, path: string]> {
  const items = elements(list)
  for (let index = 0; index < items.length; index++) yield [items[index], `${place}/${index}`]
}

function* attemptsIn(one: unknown, place: string): Iterable<[attempt: unknown, path: string]> {
  const nodes = field(one, 'nodes')
  if (!isObject(nodes)) return
  for (const [name, list] of Object.entries(nodes)) yield* listed(list, at(`${place}/nodes`, name))
}

const STAYS_INSIDE = new RegExp(WORKSPACE_PATTERN)

function checkPaths({ document, report }: Subject): void {
  for (const [files, path] of filesIn(document)) {
    if (!isObject(files)) continue
    for (const name of Object.keys(files)) {
      if (STAYS_INSIDE.test(name)) continue
      const message = 'a file of a test is named by a relative path without `..`'
      report.add('flow.outside_workspace', at(path, name), message)
    }
  }
}

/** Fields of an attempt by who answers with them; an attempt is one or the other. */
const OF_WORK = ['result', 'content', 'name', 'format', 'error', 'needs', 'claims', 'task_id']
const OF_REVIEW = ['verdict', 'score', 'suggestions']

/** Checks that an attempt is work, a review or a failure, and not two of them. */
function checkAttempts({ document, report }: Subject): void {
  const cases = elements(document['cases'])
  for (let index = 0; index < cases.length; index++) {
    for (const [attempt, path] of attemptsIn(cases[index], `/cases/${index}`)) {
      const said = (names: readonly string[]): string | undefined =>
        names.find((name) => field(attempt, name) !== undefined)
      const kinds = [said(OF_WORK), said(OF_REVIEW), said(['failure'])]
      const [first, second] = kinds.filter((name) => name !== undefined)
      if (first === undefined || second === undefined) continue
      const message = `\`${first}\` and \`${second}\` cannot both be said of one attempt`
      report.add('flow.test_entry', at(path, second), message)
    }
  }
}

export const flowTestContract: Contract = {
  name: 'flow_test_v1',
  title: 'Cases that say how a flow is walked, and what has to come of each.',
  prefix: 'flow',
  schema: FlowTestSchema,
  checks: [checkNames, checkPaths, checkAttempts],
  limits: GRAPH_LIMITS,
  isRecord: false,
}
