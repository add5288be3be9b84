/**
 * The act of a push from a session (S-15): a held request whose body is what the push does, in words.
 * It is asked about like every request, and sent by the host once.
 */
import { randomBytes } from 'node:crypto'
import { uuidV7 } from '../../base/index.ts'
import type { ActionDescriptor, Proposal } from '../../contracts/index.ts'
import { occurredAtText } from '../../ledger/index.ts'
import { holdPush, PUSH_HEADER, type PushWish } from '../acts/git-push.ts'
import type { GateParts } from '../lifecycle/act.ts'

/** Holds a push and returns the proposal that asks for it; fails if its address is none. */
export async function pushProposal(
  { context }: GateParts,
  session: ActionDescriptor,
  wish: PushWish,
): Promise<Proposal> {
  const nowMs = context.nowMs()
  const actionId = uuidV7(nowMs, randomBytes(10))
  const url = webAddressOf(wish.remote)
  const { hostname, port } = new URL(url)
  const body = await holdPush(context.home.state, actionId, wish)
  const host = port === '' ? hostname : `${hostname}:${port}`
  return {
    descriptor: {
      ...session,
      action_id: actionId,
      created_at: occurredAtText(nowMs),
      intent_summary: `Push ${wish.commands.length} references to ${hostname}.`,
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
    operation: {
      type: 'NETWORK_REQUEST',
      method: 'POST',
      url,
      headers: { [PUSH_HEADER]: actionId },
      body,
    },
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
