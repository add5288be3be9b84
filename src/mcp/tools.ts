/**
 * The table of tools. None approves, denies, overrides or rolls back: a person does that elsewhere.
 */
import type { Static, TSchema } from 'typebox'
import { faultError, showName } from '../base/index.ts'
import { checkDocument } from '../contracts/index.ts'
import { actsOf } from '../history/index.ts'
import { operationTitle } from '../words/index.ts'
import { type CallWatcher, propose, questionView, waitFor } from './acts.ts'
import type { CallerGround } from './ground.ts'
import {
  commandProposal,
  deleteProposal,
  editProposal,
  isUndeclared,
  writeProposal,
} from './proposals.ts'
import { ActionId, INPUTS, OUTPUTS } from './shapes.ts'

/** What a tool does to the world. `acts`: through the gate. `asks`: opens a question. */
type ToolKind = 'acts' | 'asks' | 'reads'

export interface Tool<I extends TSchema = TSchema, O extends TSchema = TSchema> {
  readonly title: string
  readonly says: string
  readonly kind: ToolKind
  readonly input: I
  readonly output: O
  readonly run: (ground: CallerGround, input: Static<I>, watcher: CallWatcher) => Promise<Static<O>>
}

/** Keeps the types of one tool together. */
function tool<I extends TSchema, O extends TSchema>(one: Tool<I, O>): Tool {
  // The server judges arguments by the schema before it calls `run`.
  return one as unknown as Tool
}

const DECLARED = { door: 'propose', declaredByApproval: false } as const
const GATE = 'It is rehearsed in a sandbox, judged by laws, then promoted, asked about or blocked.'
const ACTIONS = 30

export const TOOLS: Readonly<Record<string, Tool>> = {
  propose_action: tool({
    title: 'Propose an action',
    says: `Proposes any action as a proposal_v1 document. ${GATE}`,
    kind: 'acts',
    input: INPUTS.proposal,
    output: OUTPUTS.action,
    run: (ground, { proposal, dry_run: dryRun = false }, watcher) =>
      propose(ground, proposal, { ...DECLARED, dryRun }, watcher),
  }),
  run_command: tool({
    title: 'Run a command',
    says: `Runs a command in the workspace. ${GATE} Declare what it may write and delete; without that a person approves the effects.`,
    kind: 'acts',
    input: INPUTS.command,
    output: OUTPUTS.action,
    run: (ground, order, watcher) => {
      const door = { door: 'exec', declaredByApproval: isUndeclared(order) } as const
      return propose(ground, commandProposal(ground.workspace, order), door, watcher)
    },
  }),
  write_file: tool({
    title: 'Write a file',
    says: `Creates a text file or replaces it whole. ${GATE}`,
    kind: 'acts',
    input: INPUTS.write,
    output: OUTPUTS.action,
    run: (ground, { path, content }, watcher) =>
      propose(ground, writeProposal(ground.workspace, path, content), DECLARED, watcher),
  }),
  edit_file: tool({
    title: 'Edit a file',
    says: `Replaces a text in a file that is there. ${GATE}`,
    kind: 'acts',
    input: INPUTS.edit,
    output: OUTPUTS.action,
    run: (ground, order, watcher) =>
      propose(ground, editProposal(ground.workspace, order), DECLARED, watcher),
  }),
  delete_path: tool({
    title: 'Delete a file or a directory',
    says: `Deletes a file, or with \`recursive\` a directory. ${GATE}`,
    kind: 'acts',
    input: INPUTS.remove,
    output: OUTPUTS.action,
    run: (ground, { path, recursive = false }, watcher) =>
      propose(ground, deleteProposal(ground.workspace, path, recursive), DECLARED, watcher),
  }),
  action_status: tool({
    title: 'Look at one of your actions',
    says: 'Says what became of one of your actions; waits for the answer of a person if you want.',
    kind: 'reads',
    input: INPUTS.status,
    output: OUTPUTS.action,
    run: (ground, { action_id, wait_seconds = 0 }, watcher) =>
      waitFor(ground, action_id, wait_seconds, watcher),
  }),
  list_my_actions: tool({
    title: 'List your actions',
    says: 'Lists what you proposed, the newest first.',
    kind: 'reads',
    input: INPUTS.list,
    output: OUTPUTS.actions,
    run: async (ground, { limit = ACTIONS }) => ({ actions: await ownActions(ground, limit) }),
  }),
  request_undo: tool({
    title: 'Ask for an undo',
    says: 'Asks a person to take back one of your promoted actions. Nothing is taken back before they approve.',
    kind: 'asks',
    input: INPUTS.undo,
    output: OUTPUTS.undo,
    run: async (ground, { action_id, reason }) => {
      const asked = await ground.withGate((gate) => gate.undoRequests.ask(action_id, reason))
      const question = questionView(ground, asked.id, asked.expires_at)
      return { says: `Asked; nothing is taken back yet. ${question.answer}`, action_id, question }
    },
  }),
  check_document: tool({
    title: 'Check a document',
    says: 'Validates a document of any contract of writ; nothing is recorded.',
    kind: 'reads',
    input: INPUTS.document,
    output: OUTPUTS.checked,
    run: async (_ground, { document, as }) => {
      const found = checkDocument(document, as === undefined ? {} : { as })
      const { valid, contract } = found
      const violations = found.violations.map(({ code, path, message }) => ({
        code,
        path,
        message,
      }))
      return { valid, contract, violations }
    },
  }),
  evaluate_rules: tool({
    title: 'Evaluate rules',
    says: 'Evaluates rulesets of the request on inputs; a verdict for each candidate action.',
    kind: 'reads',
    input: INPUTS.rules,
    output: OUTPUTS.verdicts,
    run: async ({ host }, { rulesets, inputs, at = Date.now() }) => ({
      verdicts: [...host.evaluate(rulesets, inputs, at)],
    }),
  }),
  explain_decision: tool({
    title: 'Explain a decision',
    says: 'Says why one of your actions was decided as it was: reasons, laws and values.',
    kind: 'reads',
    input: ActionId,
    output: OUTPUTS.explanation,
    run: async (ground, { action_id }) => {
      const { id } = await ground.ownAct(action_id)
      return { action_id, explanation: await explanation(ground, id) }
    },
  }),
}

async function ownActions(ground: CallerGround, limit: number) {
  const { stream, caller, host } = ground
  const query = { stream, principal: caller.principal, limit, order: 'newest_first' } as const
  const acts = await actsOf(host.home.ledger, query, limit)
  return acts
    .filter((act) => ground.isOwn(act))
    .map(({ id, outcome, at, proposal }) => ({
      action_id: id,
      status: outcome,
      at,
      what: proposal === null ? '' : operationTitle(proposal.payload),
    }))
}

async function explanation(
  { host, stream }: CallerGround,
  id: string,
): Promise<Record<string, unknown>> {
  const { home } = host
  const place = { ledger: home.ledger, register: await home.register() }
  const explained = await host.explain(place, stream, id)
  if (explained !== null) return { ...explained }
  throw faultError('history.unknown', id, `nothing was decided about ${showName(id)}`)
}
