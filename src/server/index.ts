/**
 * Room: server. Serves a home over HTTP by the table of routes. Sees api, base, contracts,
 * constitution, ledger, gate, machine, sandbox, store, home, history, service, notifications, dispatch,
 * words, mcp and witness.
 */
export { HostedHome } from './call/hosted-home.ts'
export { Turnstile } from './call/turnstile.ts'
export { startServer } from './server.ts'
