/**
 * Room: gateway. What a session reaches on its own loopback: reports of hooks, and models behind keys
 * that stay outside. Sees nothing.
 */
export { SessionChannel } from './channel.ts'
export { type GatewayEndpoint, type GatewayUse, ModelGateway } from './gateway.ts'
