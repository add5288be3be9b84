/** docs/flow-language.md: fresh, complete, and every example is what its contract accepts. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { flowLanguagePage } from '../../src/cli/reference/flow-language.ts'
import * as vocabulary from '../../src/contracts/flow/vocabulary.ts'
import {
  checkDocument,
  findContract,
  LIST_TEXT,
  languageParts,
  publishSchema,
} from '../../src/contracts/index.ts'

type Json = Record<string, unknown>

interface Node {
  readonly properties?: Readonly<Record<string, Node & { readonly description?: string }>>
  readonly required?: readonly string[]
  readonly items?: Node
  readonly additionalProperties?: boolean | Node
  readonly anyOf?: readonly Node[]
}

interface Found {
  readonly place: string
  readonly node: Node
}

/** Every object with fields in a published schema, with the names that lead to it. */
function* objectsIn(node: Node, place: string): Iterable<Found> {
  const { properties = {}, items, additionalProperties: values, anyOf = [] } = node
  if (Object.keys(properties).length > 0) yield { place, node }
  for (const [name, child] of Object.entries(properties))
    yield* objectsIn(child, `${place}/${name}`)
  if (items !== undefined) yield* objectsIn(items, place)
  if (typeof values === 'object') yield* objectsIn(values, place)
  for (const branch of anyOf) yield* objectsIn(branch, place)
}

function published(name: string): Node {
  const contract = findContract(name)
  if (contract === null) throw new Error(`there is no contract ${name}`)
  return publishSchema(contract) as Node
}

const WRITTEN = ['flow_v1', 'flow_side_v1', 'participants_v1', 'flow_test_v1']
const OBJECTS = [
  ...WRITTEN.flatMap((name) => [...objectsIn(published(name), name)]),
  ...[...objectsIn(published('flow_evidence_v1'), 'flow_evidence_v1')].filter(({ place }) =>
    place.endsWith('/evidence'),
  ),
]

describe('the page', () => {
  it('is what `writ flow reference` prints', () => {
    expect(readFileSync('docs/flow-language.md', 'utf8')).toBe(flowLanguagePage())
  })

  it('leads to headings that it has', () => {
    const page = flowLanguagePage()
    const anchors = [...page.matchAll(/^## (.+)$/gm)].map(([, title = '']) =>
      title
        .toLowerCase()
        .replace(/[^a-z0-9 -]/g, '')
        .replaceAll(' ', '-'),
    )
    const links = [...page.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor]) => anchor)
    expect(links.length).toBeGreaterThan(20)
    expect(links.filter((anchor) => !anchors.includes(anchor ?? ''))).toEqual([])
  })
})

describe('the words', () => {
  it('describe every field that a person can write', () => {
    const bare = OBJECTS.flatMap(({ place, node }) =>
      Object.entries(node.properties ?? {})
        .filter(([, child]) => child.description === undefined)
        .map(([name]) => `${place}/${name}`),
    )
    expect(OBJECTS.length).toBeGreaterThan(60)
    expect(bare).toEqual([])
  })

  it('describe no field that there is not, in one sentence each', () => {
    for (const { title, places, fields } of languageParts()) {
      const names = OBJECTS.filter(({ place }) => places.includes(place)).flatMap(({ node }) =>
        Object.keys(node.properties ?? {}),
      )
      for (const { name, says } of fields) {
        expect(names, title).toContain(name)
        expect(says, `${title}: ${name}`).toMatch(/^[A-Z][^\n]*[^.]\.$/)
      }
    }
  })

  it('explain exactly the closed lists', () => {
    const sections = LIST_TEXT().trim().split('\n\n')
    const words = new Map(
      sections.map((section) => {
        const [title = '', ...lines] = section.split('\n')
        return [title.slice(2), lines.map((line) => line.split(' | ')[0] ?? '')]
      }),
    )
    const wanted: Record<string, readonly string[]> = {
      'Kinds of nodes': vocabulary.NODE_KINDS,
      'Classes of edges': vocabulary.EDGE_CLASSES,
      'State fields that the host keeps': vocabulary.HOST_FIELDS,
      'Scopes of guards': vocabulary.GUARD_SCOPES,
      'Types of guards': vocabulary.GUARD_TYPES,
      'What a closed guard does': vocabulary.GUARD_FAIL_ACTIONS,
      'Modes of overriding': vocabulary.OVERRIDE_MODES,
      'What a policy does': vocabulary.VIOLATION_ACTIONS,
      'Texts that text policies look at': vocabulary.TEXT_KINDS,
      'Ways of access': vocabulary.ACCESS_MODES,
      'Levels of trust': vocabulary.TRUST_LEVELS,
      'Statuses of verification': vocabulary.VERIFICATION_STATUSES,
      'Requirements of trust': vocabulary.TRUST_REQUIREMENTS,
      'Moments of invariants': vocabulary.CHECK_TIMINGS,
      Severities: vocabulary.SEVERITIES,
      'What a violated invariant does': vocabulary.FAIL_ACTIONS,
      'Built-in invariants': vocabulary.BUILT_IN_INVARIANTS,
    }
    expect([...words.keys()].sort()).toEqual(Object.keys(wanted).sort())
    for (const [title, list] of Object.entries(wanted))
      expect([...(words.get(title) ?? [])].sort(), title).toEqual([...list].sort())
  })
})

/** A document of each contract in which the examples have what they refer to. */
const WORK = { kind: 'WORK', title: 'x', phase_id: 'P1', actor: 'writer', max_attempts: 3 }
const policy = (policy_id: string, priority: number) => ({
  ...{ policy_id, policy_expr: 'true', priority },
  ...{ override_mode: 'merge', violation_action: 'alert' },
})
const BASES: Record<string, Json> = {
  flow_v1: {
    type: 'flow_v1',
    flow_id: 'f',
    title: 'f',
    nodes: [
      { ...WORK, node_id: 'draft' },
      { ...WORK, node_id: 'review', kind: 'CHECK', target: 'draft' },
      { ...WORK, node_id: 'outline' },
    ],
    edges: [{ edge_id: 'E9', source: 'outline', target: 'draft', class: 'Progress' }],
    policies: [policy('TIME_HARD_FLOOR', 100), policy('PIPELINE_CONTINUITY', 60)],
    invariants: [
      {
        ...{ invariant_id: 'FEW_REJECTIONS', invariant_expr: 'true', check_timing: 'post_phase' },
        ...{ severity: 'low', fail_action: 'alert' },
      },
    ],
  },
  flow_side_v1: {
    type: 'flow_side_v1',
    policies: [policy('TIME_HARD_FLOOR', 100), policy('PIPELINE_CONTINUITY', 60)],
  },
  participants_v1: { type: 'participants_v1', participants: { xiaobo: { command: ['x'] } } },
  flow_test_v1: { type: 'flow_test_v1', flow: 'f', cases: [{ name: 'c', expect: {} }] },
  flow_evidence_v1: {
    ...{ run_id: 'r', seq: 0, at: '2026-01-01T00:00:00Z', evidence: {}, principal: 'p' },
    participant: null,
  },
}

/** Names that hold a list of what comes next, or a table by names of the author. */
const LISTS = new Set([
  ...['nodes', 'edges', 'inputs', 'requirements', 'policies', 'text_policies', 'access_rules'],
  ...['claims', 'invariants', 'cases', 'events', 'needs', 'findings', 'refused'],
])
const TABLES = new Set(['fields', 'participants'])

/** Puts `value` at a place of a document; objects on the way have what their contract asks for. */
function placed(base: Json, place: string, value: Json): Json {
  const [contract = '', ...names] = place.split('/')
  const document = structuredClone(base)
  let here: Json = document
  names.forEach((name, index) => {
    const isLast = index === names.length - 1
    const above = names.slice(0, index + 1)
    const inside = isLast ? value : neededAt([contract, ...above].join('/'), names[index + 1])
    if (contract === 'flow_test_v1' && above.join('/') === 'cases/nodes')
      here['nodes'] = { draft: [inside] }
    else if (name === 'evidence' && contract === 'flow_test_v1' && above.includes('nodes'))
      here['evidence'] = [inside]
    else if (TABLES.has(name)) here[name] = { ...(here[name] as Json), pages: inside }
    else if (LISTS.has(name) && !above.join('/').endsWith('expect/policies')) {
      const list = [...((here[name] as unknown[] | undefined) ?? [])]
      const isWanted = name === 'policies' || (contract === 'flow_v1' && name === 'nodes')
      here[name] = isWanted ? [inside, ...list.slice(1)] : [inside]
    } else here[name] = inside
    here = inside
  })
  return document
}

/** The fields that the object at a place needs, with their examples. */
function neededAt(place: string, withField?: string): Json {
  const found = OBJECTS.find(
    ({ place: one, node }) =>
      one === place && (withField === undefined || Object.hasOwn(node.properties ?? {}, withField)),
  )
  const words = languageParts().find(
    ({ places, fields }) =>
      places.includes(place) &&
      (found?.node.required ?? []).every((name) => fields.some((one) => one.name === name)) &&
      (withField === undefined || fields.some(({ name }) => name === withField)),
  )
  return Object.fromEntries(
    (found?.node.required ?? []).map((name) => {
      const field = words?.fields.find((one) => one.name === name)
      return [name, JSON.parse(field?.example ?? 'null') as unknown]
    }),
  )
}

/** Fields that only a CHECK has. */
const OF_CHECKS: Record<string, Json> = {
  target: { node_id: 'again', kind: 'CHECK' },
  reviewer: { node_id: 'again', kind: 'CHECK', target: 'draft' },
}

function documentWith(place: string, name: string, example: unknown): Json {
  const contract = place.split('/')[0] ?? ''
  const base = BASES[contract] ?? {}
  if (place === contract) {
    const alone = name === 'nodes' && contract === 'flow_v1' ? { edges: [] } : {}
    return { ...base, ...alone, [name]: example }
  }
  const isCheck = place.endsWith('_v1/nodes') && Object.hasOwn(OF_CHECKS, name)
  const value = { ...neededAt(place, name), ...(isCheck ? OF_CHECKS[name] : {}), [name]: example }
  if (!isCheck || contract !== 'flow_v1') return placed(base, place, value)
  return { ...base, nodes: [...(base['nodes'] as unknown[]), value] }
}

const EXAMPLES = languageParts().flatMap(({ title, places, fields }) =>
  places
    .filter((place) => BASES[place.split('/')[0] ?? ''] !== undefined)
    .flatMap((place) => fields.map((field) => ({ title, place, ...field }))),
)

describe('the examples', () => {
  it('are accepted by their contracts, each where it belongs', () => {
    expect(EXAMPLES.length).toBeGreaterThan(250)
    const refused = EXAMPLES.flatMap(({ place, name, example }) => {
      const document = documentWith(place, name, JSON.parse(example))
      const as = place.split('/')[0] ?? ''
      const { violations } = checkDocument(document, { as })
      return violations.map(({ code, path }) => `${place}/${name}: ${code} ${path}`)
    })
    expect(refused).toEqual([])
  })
})
