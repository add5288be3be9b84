/**
 * A plan (`plan_json_v1`) as a flow (F-12a): ACTION is WORK, DEPENDS_ON is a Progress edge that
 * is waited for, DECOMPOSE a Sync edge from child to parent, ALTERNATIVE a Decision of a group. An
 * ACTION that no CHECK judges gets one. The plan must be valid by its contract; the conversion lists
 * all other problems.
 *
 * The flow has one phase: a plan has none, and what depends on what is in its edges.
 *
 * `readParticipants` reads the participants of a plan, which a person wrote: a `participants_v1` document, or a plain map
 * from names to participants. The digest of the canonical document pins them.
 */
import { at, type Digest, digestDocument, showName } from '../../base/index.ts'
import {
  type Flow,
  type FlowEdge,
  type FlowNode,
  type FlowRequirement,
  field,
  isObject,
  type NodeKind,
  type Participant,
  type Participants,
  type PlanJson,
  participantsContract,
  type Violation,
  validate,
} from '../../contracts/index.ts'
import { alternativesOf } from './alternatives.ts'
import { PlanGraph, type PlanNode } from './plan-graph.ts'
import { ignoredWords, nodeWords, planWords } from './plan-words.ts'

export interface PlanFlow {
  readonly flow: Flow
  /** With places in the plan. */
  readonly violations: readonly Violation[]
  readonly warnings: readonly Violation[]
  /** By index of a node or edge of the flow: the pointer into the plan it came from. */
  readonly originOf: (pointer: string) => string | null
}

/** As in the specification's example: work is tried three times, a review four times. */
const ATTEMPTS = { WORK: 3, CHECK: 4, GOAL: 1 } as const
const PHASE = 'plan'
/** Judges work when no participants are given. */
const UNNAMED_REVIEWER = 'reviewer'
/** Names that mean the reviewer if the document has no `reviewer`, most usual first. */
const REVIEWERS = ['reviewer', 'xiaojing']

/** Without participants every agent is a person of that name: enough to check and to draw. */
export function planToFlow(plan: PlanJson, participants: Participants | null): PlanFlow {
  return new Conversion(plan, participants).run()
}

class Conversion {
  readonly #plan: PlanJson
  readonly #participants: Participants | null
  readonly #graph: PlanGraph
  readonly #nodes: FlowNode[] = []
  readonly #edges: FlowEdge[] = []
  readonly #nodeOrigins: (string | null)[] = []
  readonly #edgeOrigins: (string | null)[] = []
  readonly #violations: Violation[] = []
  readonly #warnings: Violation[] = []
  readonly #unnamed = new Set<string>()

  constructor(plan: PlanJson, participants: Participants | null) {
    this.#plan = plan
    this.#participants = participants
    this.#graph = new PlanGraph(plan)
  }

  run(): PlanFlow {
    const requirements = requirementsOf(this.#plan)
    for (const [index, node] of this.#plan.nodes.entries()) {
      this.#addNode(this.#nodeOf(node, index, requirements.get(node.task_id)), `/nodes/${index}`)
    }
    const alternatives = alternativesOf(this.#graph, this.#violations)
    for (const node of alternatives.nodes) this.#addNode({ ...this.#frame(node), ...node }, null)
    this.#addReviews()
    for (const [index, edge] of this.#plan.edges.entries()) {
      const made = alternatives.replaces(index) ? null : this.#edgeOf(edge)
      if (made !== null) this.#addEdge(made, `/edges/${index}`)
    }
    for (const { edge, origin } of alternatives.edges) this.#addEdge(edge, `/edges/${origin}`)
    const { plan_id, title } = this.#plan.plan
    return {
      flow: {
        type: 'flow_v1',
        flow_id: plan_id,
        title,
        ...planWords(this.#plan),
        nodes: this.#nodes,
        edges: this.#edges,
      },
      violations: this.#violations,
      warnings: this.#warnings,
      originOf: (pointer) => this.#originOf(pointer),
    }
  }

  #frame({ kind }: Pick<FlowNode, 'kind'>) {
    return { phase_id: PHASE, actor: this.#plan.plan.owner_agent_id, max_attempts: ATTEMPTS[kind] }
  }

  #nodeOf(
    node: PlanNode,
    index: number,
    requirements: readonly FlowRequirement[] | undefined,
  ): FlowNode {
    const kind: NodeKind = node.node_type === 'ACTION' ? 'WORK' : node.node_type
    const made = {
      node_id: node.task_id,
      kind,
      title: node.title,
      ...nodeWords(node, this.#plan),
      phase_id: PHASE,
      actor: node.owner_agent_id === '' ? 'unknown' : node.owner_agent_id,
      max_attempts: ATTEMPTS[kind],
      ...(requirements === undefined ? {} : { requirements: [...requirements] }),
    }
    const path = `/nodes/${index}`
    this.#tellIgnored(made, path)
    switch (kind) {
      case 'GOAL':
        return made
      case 'WORK':
        return { ...made, executor: this.#participant(node.owner_agent_id, path) }
      case 'CHECK': {
        const target = this.#graph.targetOf(node)
        if (target === null) this.#tellUntargeted(node, path)
        const reviewer = this.#participant(node.owner_agent_id, path)
        return { ...made, reviewer, ...(target === null ? {} : { target }) }
      }
      default:
        return kind satisfies never
    }
  }

  #tellIgnored({ title, ignored }: Pick<FlowNode, 'title' | 'ignored'>, path: string): void {
    for (const words of ignoredWords(ignored)) {
      const message = `the plan says \`${words}\` for ${showName(title)}, which a plan cannot decide`
      const hint = `say \`${words}\` at the participant, in the file of participants`
      this.#warnings.push({ code: 'flow.tools_ignored', path, message, hint })
    }
  }

  #tellUntargeted({ title }: PlanNode, path: string): void {
    const message = `the CHECK ${showName(title)} does not say what it reviews, and depends on no single ACTION`
    const hint = 'say `review_target_task_id`'
    this.#warnings.push({ code: 'flow.check_untargeted', path, message, hint })
  }

  /** Returns a participant by name. Reports an unknown name once and returns a human in its place. */
  #participant(name: string, path: string): Participant {
    const human = { human: name === '' ? ('unknown' as const) : name }
    if (this.#participants === null) return human
    const { participants } = this.#participants
    const found = Object.hasOwn(participants, name) ? participants[name] : undefined
    if (found !== undefined) return found
    if (!this.#unnamed.has(name)) {
      this.#unnamed.add(name)
      const message = `the participants do not say who ${showName(name)} is`
      this.#violations.push({
        code: 'flow.plan_participant',
        path: `${path}/owner_agent_id`,
        message,
      })
    }
    return human
  }

  /** An ACTION that no CHECK of the plan judges is judged by the reviewer. */
  #addReviews(): void {
    const judged = new Set(
      this.#nodes.flatMap(({ target }) => (target === undefined ? [] : [target])),
    )
    const name = this.#participants === null ? UNNAMED_REVIEWER : reviewerOf(this.#participants)
    for (const [index, node] of this.#plan.nodes.entries()) {
      if (node.node_type !== 'ACTION' || judged.has(node.task_id)) continue
      const path = `/nodes/${index}`
      if (name === null) {
        this.#tellNoReviewer(node, path)
        continue
      }
      const node_id = this.#graph.freshId(`${node.task_id}:check`)
      const reviewer = this.#participant(name, path)
      this.#addNode(
        {
          node_id,
          kind: 'CHECK',
          title: `Check: ${node.title}`,
          phase_id: PHASE,
          actor: name,
          reviewer,
          target: node.task_id,
          max_attempts: ATTEMPTS.CHECK,
        },
        path,
      )
      const edge_id = this.#graph.freshId(`${node.task_id}:review`)
      this.#addEdge({ edge_id, source: node.task_id, target: node_id, class: 'Progress' }, path)
    }
  }

  #tellNoReviewer({ title }: PlanNode, path: string): void {
    const message = `no CHECK judges ${showName(title)}, and the participants name no reviewer`
    const hint = 'say `reviewer` in the participants file'
    this.#violations.push({ code: 'flow.plan_participant', path, message, hint })
  }

  #edgeOf(edge: PlanJson['edges'][number]): FlowEdge | null {
    const { edge_id, from_task_id: from, to_task_id: to } = edge
    switch (edge.edge_type) {
      case 'DEPENDS_ON':
        return { edge_id, source: from, target: to, class: 'Progress', join: 'AND' }
      case 'DECOMPOSE': {
        const join = field(edge.metadata, 'and_or') === 'OR' ? 'OR' : 'AND'
        return { edge_id, source: to, target: from, class: 'Sync', join }
      }
      case 'ALTERNATIVE':
        return null
      default:
        return edge.edge_type satisfies never
    }
  }

  #addNode(node: FlowNode, origin: string | null): void {
    this.#nodes.push(node)
    this.#nodeOrigins.push(origin)
  }

  #addEdge(edge: FlowEdge, origin: string | null): void {
    this.#edges.push(edge)
    this.#edgeOrigins.push(origin)
  }

  #originOf(pointer: string): string | null {
    const [, list, index] = /^\/(nodes|edges)\/(\d+)/.exec(pointer) ?? []
    const origins = list === 'nodes' ? this.#nodeOrigins : this.#edgeOrigins
    return list === undefined ? null : (origins[Number(index)] ?? null)
  }
}

/** What the tasks of a plan ask for, by task; one without a task is for the root. */
function requirementsOf(plan: PlanJson): ReadonlyMap<string, readonly FlowRequirement[]> {
  const byTask = new Map<string, FlowRequirement[]>()
  for (const [index, requirement] of (plan.requirements ?? []).entries()) {
    const task = field(requirement, 'task_id')
    const owner = typeof task === 'string' && task !== '' ? task : plan.plan.root_task_id
    const description = field(requirement, 'description')
    const made: FlowRequirement = {
      name:
        requirement.name === undefined || requirement.name === ''
          ? `requirement_${index + 1}`
          : requirement.name,
      kind: requirement.kind ?? 'FILE',
      source: requirement.source ?? 'USER',
      required: requirement.required !== 0 && requirement.required !== false,
      min_count: requirement.min_count ?? 1,
      allowed_types: requirement.allowed_types ?? [],
      ...(typeof description === 'string' ? { description } : {}),
    }
    const list = byTask.get(owner)
    if (list === undefined) byTask.set(owner, [made])
    else list.push(made)
  }
  return byTask
}

export type ParsedParticipants =
  | { readonly ok: true; readonly participants: Participants; readonly digest: Digest }
  | { readonly ok: false; readonly violations: readonly Violation[] }

export function readParticipants(document: unknown): ParsedParticipants {
  const isPlain = isMap(document)
  const whole = isPlain ? { type: 'participants_v1', participants: document } : typed(document)
  const { valid, violations } = validate(participantsContract, whole)
  if (!valid) return { ok: false, violations: isPlain ? violations.map(unwrapped) : violations }
  // The contract has judged it.
  const participants = whole as Participants
  return { ok: true, participants, digest: digestDocument(participants) }
}

/** A map of agents, without the frame of the contract. */
function isMap(document: unknown): boolean {
  if (!isObject(document) || field(document, 'type') !== undefined) return false
  const inner = field(document, 'participants')
  return (
    !isObject(inner) ||
    ['command', 'http', 'mcp', 'chat', 'human'].some((key) => Object.hasOwn(inner, key))
  )
}

function typed(document: unknown): unknown {
  if (!isObject(document) || field(document, 'type') !== undefined) return document
  return { type: 'participants_v1', ...document }
}

/** Moves a violation to its place in the plain map that the user wrote. */
function unwrapped(violation: Violation): Violation {
  const prefix = at('', 'participants')
  const { path } = violation
  return path.startsWith(prefix) ? { ...violation, path: path.slice(prefix.length) } : violation
}

/** Returns the participant that judges work without a CHECK; null if there is none. */
export function reviewerOf({ participants, reviewer }: Participants): string | null {
  if (reviewer !== undefined) return reviewer
  return REVIEWERS.find((name) => Object.hasOwn(participants, name)) ?? null
}
