/**
 * Room: server. Serves a home over HTTP by the table of routes. Sees api, base, contracts,
 * constitution, ledger, gate, machine, sandbox, store, home, history, service and words.
 */
export { startServer } from './server.ts'
