/**
 * Room: notifications. Tells people of questions that wait, and knows what came of it. Sees base,
 * contracts, gate, ledger, machine, store, service and words.
 */
export { deliveriesOf } from './deliveries.ts'
export { testMessage } from './message.ts'
export { look, type NotifyHost, type NotifyNews, tryWays, undelivered } from './notify-loop.ts'
export { postWebhook, type SecretOf } from './send.ts'
