/**
 * The act of a push or a command of a session (S-15), or of more of its budget (S-7): a held request whose
 * body is what it does, in words. It is asked about like every request, and sent by the host once.
 */
import { randomBytes } from 'node:crypto'
import { uuidV7 } from '../../base/index.ts'
import type { ActionDescriptor, Proposal } from '../../contracts/index.ts'
import { joinRaw, newFileDeferral, rawOfText } from '../../gate/index.ts'
import { occurredAtText } from '../../ledger/index.ts'
import type { CommandWish } from '../acts/command-plan.ts'
import { holdPush, PUSH_HEADER, type PushWish } from '../acts/git-push.ts'
import { COMMAND_HEADER, holdCommand } from '../acts/held-command.ts'
import { BUDGET_HEADER, type BudgetWish, holdBudget } from '../acts/session-budget.ts'
import type { GateParts } from '../lifecycle/act.ts'

/** Holds a push and returns the proposal that asks for it; fails if its address is none. */
export async function pushProposal(
  { context, book }: GateParts,
  session: ActionDescriptor,
  wish: PushWish,
): Promise<Proposal> {
  const actionId = newActionId(context)
  const url = webAddressOf(wish.remote)
  const tree = rawOfText(wish.tree)
  const runsLater = (path: string): boolean =>
    newFileDeferral(book.lists, tree, joinRaw(tree, rawOfText(path)))?.kind === 'ask'
  const body = await holdPush(context.home.state, actionId, wish, runsLater)
  const summary = `Push ${wish.commands.length} references to ${new URL(url).hostname}.`
  const request = { url, method: 'POST', headers: { [PUSH_HEADER]: actionId }, body }
  return heldProposal(context, session, { actionId, summary, request })
}

/** The same for a command that runs outside. */
export async function commandProposal(
  { context }: GateParts,
  session: ActionDescriptor,
  wish: CommandWish,
): Promise<Proposal> {
  const actionId = newActionId(context)
  const { home, environment } = context
  const { url, method, summary, body } = await holdCommand(home.state, actionId, wish, environment)
  const request = { url, method, headers: { [COMMAND_HEADER]: actionId }, body }
  return heldProposal(context, session, { actionId, summary, request })
}

/** The same for more of a budget. */
export function budgetProposal(
  { context }: GateParts,
  session: ActionDescriptor,
  wish: BudgetWish,
): Proposal {
  const actionId = newActionId(context)
  const body = holdBudget(context.home.state, actionId, wish)
  const headers = { [BUDGET_HEADER]: actionId }
  const request = { url: wish.url, method: 'POST', headers, body }
  const summary = 'Give the session more of its model.'
  return heldProposal(context, session, { actionId, summary, request })
}

function newActionId({ nowMs }: GateParts['context']): string {
  return uuidV7(nowMs(), randomBytes(10))
}

interface HeldRequest {
  readonly actionId: string
  readonly summary: string
  readonly request: Pick<NetworkRequest, 'body' | 'headers' | 'url'> & { readonly method: string }
}

type NetworkRequest = Extract<NonNullable<Proposal['operation']>, { type: 'NETWORK_REQUEST' }>

function heldProposal(
  { nowMs }: GateParts['context'],
  session: ActionDescriptor,
  { actionId, summary, request }: HeldRequest,
): Proposal {
  const { hostname, port } = new URL(request.url)
  const host = port === '' ? hostname : `${hostname}:${port}`
  return {
    descriptor: {
      ...session,
      action_id: actionId,
      created_at: occurredAtText(nowMs()),
      intent_summary: summary,
      action_type: 'NETWORK_REQUEST',
      risk_level: 'HIGH',
      scope: { ...session.scope, network: { required: true, hosts: [host] } },
      effects: {
        filesystem: { create: [], modify: [], delete: [] },
        network: true,
        system_state_change: false,
      },
      sandbox: { ...session.sandbox, allow_network: true },
    },
    // The contract refuses a method that is none.
    operation: { type: 'NETWORK_REQUEST', ...request } as NetworkRequest,
  }
}

/** Names the server of any address of git as one of the web, since requests have those. */
function webAddressOf(remote: string): string {
  if (/^https?:\/\//.test(remote)) return `${remote}/git-receive-pack`
  const [, host = '', path = ''] =
    /^ssh:\/\/(?:[^@/]*@)?([^/:]+)(?::\d+)?\/(.*)$/.exec(remote) ??
    /^[^@/]*@([^:/]+):(.*)$/.exec(remote) ??
    []
  return `https://${host}/${path.replace(/^\//, '')}/git-receive-pack`
}
