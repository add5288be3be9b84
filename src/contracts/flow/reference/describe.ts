/**
 * The parts of flow documents with the meaning of their fields, and schemas with those meanings as
 * `description` and `examples`. A part is known by its place in a contract: the names of the
 * properties that lead to it; lists, tables and unions add none.
 */
import type { SchemaNode } from '../../kernel/schema.ts'
import { files } from './file-words.ts'
import { parts } from './part-words.ts'

interface FieldWords {
  readonly name: string
  /** Empty when there is none. */
  readonly usual: string
  /** As JSON. */
  readonly example: string
  readonly says: string
}

export interface LanguagePart {
  readonly title: string
  readonly says: string
  /** Such as `flow_v1/nodes`. */
  readonly places: readonly string[]
  readonly fields: readonly FieldWords[]
}

function fieldsOf(texts: readonly string[]): readonly FieldWords[] {
  return texts.flatMap((text) =>
    text
      .trim()
      .split('\n')
      .map((line) => {
        const [name = '', usual = '', example = '', ...says] = line.split(' | ')
        return { name, usual: usual.trim(), example, says: says.join(' | ') }
      }),
  )
}

function part(
  title: string,
  says: string,
  places: readonly string[],
  ...texts: readonly string[]
): LanguagePart {
  return { title, says, places, fields: fieldsOf(texts) }
}

const NODES = ['flow_v1/nodes', 'flow_side_v1/nodes']

function inNodes(name: string): readonly string[] {
  return NODES.map((place) => `${place}/${name}`)
}

const BOTH = (name: string): readonly string[] => [`flow_v1/${name}`, `flow_side_v1/${name}`]

function flowParts(): readonly LanguagePart[] {
  return [
    part('Flow', 'The document `flow_v1`.', ['flow_v1'], parts.FLOW_TEXT()),
    part('Node', 'One step of a flow.', NODES, parts.NODE_TEXT()),
    part('Input of a node', 'What an earlier node left.', inNodes('inputs'), parts.INPUT_TEXT()),
    part(
      'Requirement of a node',
      'What has to be there before a node runs; plans say it.',
      inNodes('requirements'),
      parts.REQUIREMENT_TEXT(),
    ),
    part('Map', 'A list, and how its items run.', inNodes('map'), parts.MAP_TEXT()),
    part('Retry', 'How failures are tried again.', inNodes('retry'), parts.RETRY_TEXT()),
    part(
      'Retry of one kind of failure',
      'In place of the general waits.',
      ['failed', 'timeout', 'invalid', 'unreachable'].flatMap((kind) => inNodes(`retry/${kind}`)),
      parts.BACKOFF_TEXT(),
    ),
    part(
      'Edge',
      'A way from one node to another.',
      ['flow_v1/edges'],
      parts.EDGE_TEXT(),
      parts.GUARD_TEXT(),
    ),
    part(
      'State',
      'The fields that a flow adds to the state.',
      ['flow_v1/state'],
      parts.STATE_TEXT(),
    ),
    part('State field', 'A field of your own.', BOTH('state/fields'), parts.STATE_FIELD_TEXT()),
    part('Policy', 'A rule that speaks at transitions.', BOTH('policies'), parts.POLICY_TEXT()),
    part(
      'Text policy',
      'Phrases that are banned.',
      BOTH('text_policies'),
      parts.TEXT_POLICY_TEXT(),
    ),
    part(
      'Access rule',
      'What an actor may and may not reach.',
      [...BOTH('access_rules'), 'flow_side_v1/access_rule'],
      parts.ACCESS_TEXT(),
    ),
    part(
      'Claim',
      'Something that a node claims and another one has to verify.',
      [...BOTH('claims'), 'flow_side_v1/claim_verification', 'flow_claim_v1/claim'],
      parts.CLAIM_TEXT(),
    ),
    part(
      'Evidence',
      'What a participant or a person brings for a claim or against it; it is part of an answer, not of a flow.',
      ['flow_evidence_v1/evidence'],
      parts.EVIDENCE_TEXT(),
    ),
    part('Invariant', 'What has to hold.', BOTH('invariants'), parts.INVARIANT_TEXT()),
    part(
      'Budgets',
      'Limits of a whole run.',
      [...BOTH('budgets'), 'flow_test_v1/cases/events/budget'],
      parts.BUDGETS_TEXT(),
    ),
    part('Table', 'How an imported edge table was written.', ['flow_v1/table'], parts.TABLE_TEXT()),
  ]
}

function participantParts(): readonly LanguagePart[] {
  const places = [...inNodes('executor'), ...inNodes('reviewer'), 'participants_v1/participants']
  const kind = (title: string, says: string, text: string): LanguagePart =>
    part(`Participant: ${title}`, says, places, text, parts.REACH_TEXT())
  return [
    kind('command', 'A program in the sandbox.', parts.COMMAND_TEXT()),
    kind('http', 'An HTTP endpoint.', parts.HTTP_TEXT()),
    kind('mcp', 'A tool of an MCP server.', parts.MCP_TEXT()),
    kind('chat', 'A model behind a chat endpoint.', parts.CHAT_TEXT()),
    kind('human', 'A person.', parts.HUMAN_TEXT()),
  ]
}

function fileParts(): readonly LanguagePart[] {
  return [
    part(
      'Side file',
      'The document `flow_side_v1`: what an edge table cannot say.',
      ['flow_side_v1'],
      files.SIDE_TEXT(),
    ),
    part(
      'Edge of a side file',
      'More about an edge of the table.',
      ['flow_side_v1/edges'],
      files.SIDE_EDGE_TEXT(),
      parts.GUARD_TEXT(),
    ),
    part(
      'State of a side file',
      'Fields of your own, and those of the host.',
      ['flow_side_v1/state'],
      files.SIDE_STATE_TEXT(),
    ),
    part(
      'Participants file',
      'The document `participants_v1`: who the agents of a plan are.',
      ['participants_v1'],
      files.PARTICIPANTS_TEXT(),
    ),
  ]
}

function attemptParts(nodes: string, events: string): readonly LanguagePart[] {
  return [
    part('Attempt of a case', 'What one attempt at a node does.', [nodes], files.ATTEMPT_TEXT()),
    part('Failure: exit status', 'A program that fails.', [`${nodes}/failure`], files.EXIT_TEXT()),
    part(
      'Failure: HTTP status',
      'An endpoint that fails.',
      [`${nodes}/failure`],
      files.HTTP_FAILURE_TEXT(),
    ),
    part(
      'Failure: no connection',
      'A line that fails.',
      [`${nodes}/failure`],
      files.UNREACHABLE_TEXT(),
    ),
    part(
      'Failure: timeout',
      'A participant that is too slow.',
      [`${nodes}/failure`],
      files.TIMEOUT_TEXT(),
    ),
    part(
      'Claim of an attempt',
      'A claim in an answer.',
      [`${nodes}/claims`],
      files.SCRIPTED_CLAIM_TEXT(),
    ),
    part(
      'Evidence of a case',
      'Evidence in an answer or of a person.',
      [`${nodes}/evidence`, `${events}/evidence`],
      files.SCRIPTED_EVIDENCE_TEXT(),
    ),
    part(
      'Need of an attempt',
      'A document that is asked for.',
      [`${nodes}/needs`],
      files.NEED_TEXT(),
    ),
    part(
      'Error of an attempt',
      'The error of an answer ERROR.',
      [`${nodes}/error`],
      files.ERROR_TEXT(),
    ),
  ]
}

function testParts(): readonly LanguagePart[] {
  const cases = 'flow_test_v1/cases'
  const [nodes, events, expected] = [`${cases}/nodes`, `${cases}/events`, `${cases}/expect`]
  return [
    part(
      'Test file',
      'The document `flow_test_v1`, for `writ flow test`.',
      ['flow_test_v1'],
      files.TEST_TEXT(),
    ),
    part('Case', 'One run, from its start to its end.', [cases], files.CASE_TEXT()),
    ...attemptParts(nodes, events),
    part('Event: answer', 'A person answers.', [events], files.ANSWER_EVENT_TEXT()),
    part(
      'Event',
      'Anything else that happens; an entry has one of these, with what belongs to it.',
      [events],
      files.EVENT_TEXT(),
    ),
    part('Resume of a case', 'What a resume finds.', [`${events}/resume`], files.RESUME_TEXT()),
    part('Expectation', 'What has to come of a case.', [expected], files.EXPECT_TEXT()),
    part(
      'Expected finding',
      'A finding in more words than its code.',
      [`${expected}/findings`],
      files.EXPECTED_FINDING_TEXT(),
    ),
    part(
      'Expected refusal',
      'An access that a rule refused.',
      [`${expected}/refused`],
      files.EXPECTED_ACCESS_TEXT(),
    ),
    part(
      'Expected policies',
      'What policies did.',
      [`${expected}/policies`],
      files.EXPECTED_POLICIES_TEXT(),
    ),
  ]
}

/** Every part of the documents that people write for flows, in the order of reading. */
export function languageParts(): readonly LanguagePart[] {
  return [...flowParts(), ...participantParts(), ...fileParts(), ...testParts()]
}

/** The part at a place whose fields are those of an object; null when there is none. */
export function partAt(
  known: readonly LanguagePart[],
  place: string,
  names: readonly string[],
): LanguagePart | null {
  const fits = ({ places, fields }: LanguagePart): boolean =>
    places.includes(place) && names.every((name) => fields.some((field) => field.name === name))
  return known.find(fits) ?? null
}

/** Returns the schema of a contract with the meaning of every field that has one. */
export function describeSchema(contract: string, schema: SchemaNode): SchemaNode {
  const known = languageParts()
  const isKnown = known.some(({ places }) =>
    places.some((place) => place.split('/')[0] === contract),
  )
  return isKnown ? described(schema, contract, known) : schema
}

function described(node: SchemaNode, place: string, known: readonly LanguagePart[]): SchemaNode {
  const { properties, items, additionalProperties: values, anyOf } = node
  const inside = (child: SchemaNode): SchemaNode => described(child, place, known)
  return {
    ...node,
    ...(properties === undefined ? {} : { properties: fieldsAt(properties, place, known) }),
    ...(items === undefined ? {} : { items: inside(items) }),
    ...(typeof values === 'object' ? { additionalProperties: inside(values) } : {}),
    ...(anyOf === undefined ? {} : { anyOf: anyOf.map(inside) }),
  }
}

function fieldsAt(
  properties: NonNullable<SchemaNode['properties']>,
  place: string,
  known: readonly LanguagePart[],
): Readonly<Record<string, SchemaNode>> {
  const found = partAt(known, place, Object.keys(properties))
  return Object.fromEntries(
    Object.entries(properties).map(([name, child]) => {
      const words = found?.fields.find((field) => field.name === name)
      const whole = described(child, `${place}/${name}`, known)
      if (words === undefined) return [name, whole]
      const { says, example } = words
      // A table of words that a test reads as JSON.
      return [name, { ...whole, description: says, examples: [JSON.parse(example) as unknown] }]
    }),
  )
}
