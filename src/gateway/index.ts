/**
 * Room: gateway. What a session reaches on its own loopback: reports of hooks, and models behind keys
 * that stay outside. Sees no other room.
 */
export {
  type BoundedUse,
  costText,
  type GatewayBudget,
  type GatewayUse,
  type ModelPrice,
  NO_BUDGET,
  NO_GATEWAY_USE,
  type SpentBudget,
} from './budget.ts'
export { SessionChannel } from './channel.ts'
export type { CommandKeeper, CommandOrder, HeldCommand, HeldCommandEnd } from './command-server.ts'
export { type GatewayEndpoint, ModelGateway } from './gateway.ts'
export type { HeldPush, PushEnd, PushKeeper, PushOrder } from './push-server.ts'
