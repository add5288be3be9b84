/**
 * Room: gateway. What a session reaches on its own loopback: reports of hooks, and models behind keys
 * that stay outside. Sees no other room.
 */
export { SessionChannel } from './channel.ts'
export type { CommandKeeper, CommandOrder, HeldCommand, HeldCommandEnd } from './command-server.ts'
export {
  type GatewayBudget,
  type GatewayEndpoint,
  type GatewayUse,
  ModelGateway,
} from './gateway.ts'
export type { HeldPush, PushEnd, PushKeeper, PushOrder } from './push-server.ts'
