/**
 * Room: mcp. Offers a home to MCP clients as tools and resources. Sees base, contracts, ledger,
 * store, home, history, service and words.
 */
export type { McpHost } from './ground.ts'
export { RESOURCES } from './resources.ts'
export { mcpDoor, serveOverStdio } from './serve.ts'
export { TOOLS } from './tools.ts'
