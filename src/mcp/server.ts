/**
 * One MCP server for one caller, of both protocol generations: the tables of tools and resources, put into
 * the official SDK. A refusal is a tool result that says what happened and what to do, never a stack.
 */
import { randomBytes } from 'node:crypto'
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  createRequestStateCodec,
  fromJsonSchema,
  type InputRequiredResult,
  inputRequired,
  McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { FaultError, VERSION } from '../base/index.ts'
import { field, isObject } from '../contracts/index.ts'
import { type CallWatcher, questionAddress, waitFor } from './acts.ts'
import type { CallerGround } from './ground.ts'
import { registerResources } from './resources.ts'
import { TOOLS, type Tool } from './tools.ts'

const ARGUMENT_VALUES_MAX = 50_000
const INSTRUCTIONS =
  'Every action goes through writ: it is rehearsed in a sandbox, judged by laws, then promoted, asked about or blocked. If an answer has a `question`, a person has to answer it; look again with action_status. No tool approves.'

/** Holds for this process: a client that comes back to another one asks again. */
const STATE = createRequestStateCodec<{ readonly action_id: string }>({ key: randomBytes(32) })

export function mcpServer(ground: CallerGround): McpServer {
  const server = new McpServer(
    { name: 'writ', title: 'writ', version: VERSION },
    {
      capabilities: { tools: {}, resources: {} },
      instructions: INSTRUCTIONS,
      maxToolInputElements: ARGUMENT_VALUES_MAX,
      requestState: { verify: (state, ctx) => STATE.verify(state, ctx) },
    },
  )
  for (const [name, tool] of Object.entries(TOOLS)) registerTool(server, ground, name, tool)
  registerResources(server, ground)
  return server
}

function registerTool(server: McpServer, ground: CallerGround, name: string, tool: Tool): void {
  server.registerTool(
    name,
    {
      title: tool.title,
      description: tool.says,
      inputSchema: fromJsonSchema(plain(tool.input)),
      outputSchema: fromJsonSchema(plain(tool.output)),
      annotations: {
        readOnlyHint: tool.kind === 'reads',
        destructiveHint: tool.kind === 'acts',
        openWorldHint: name === 'run_command' || name === 'propose_action',
      },
      // Claude Code loads tools late without it.
      _meta: { 'anthropic/alwaysLoad': true },
    },
    (input: unknown, ctx: ServerContext) => answer(server, ground, tool, input, ctx),
  )
}

/** Schemas without the marks that TypeBox keeps on them. */
function plain(schema: object): Record<string, unknown> {
  return JSON.parse(JSON.stringify(schema))
}

async function answer(
  server: McpServer,
  ground: CallerGround,
  tool: Tool,
  input: unknown,
  ctx: ServerContext,
): Promise<CallToolResult | InputRequiredResult> {
  const watcher = watcherOf(ctx)
  try {
    const state = ctx.mcpReq.requestState<{ readonly action_id: string }>()
    // The client comes back from the console: what counts is on the ledger.
    if (state !== undefined) return resultOf(await waitFor(ground, state.action_id, 0, watcher))
    // The SDK has judged the arguments by the tool's schema.
    const value = await tool.run(ground, input as never, watcher)
    return (await leadToConsole(server, ground, value, ctx)) ?? resultOf(value)
  } catch (error) {
    if (!(error instanceof FaultError)) throw error
    const { code, message, hint } = error.fault
    const text = hint === undefined ? message : `${message}; ${hint}`
    return { isError: true, content: [{ type: 'text', text: `${text} (${code})` }] }
  }
}

function resultOf(value: unknown): CallToolResult {
  // The output schema of each tool is an object.
  const structuredContent = value as Record<string, unknown>
  return { structuredContent, content: [{ type: 'text', text: JSON.stringify(value) }] }
}

function watcherOf({ mcpReq }: ServerContext): CallWatcher {
  const token = mcpReq._meta?.progressToken
  let last = -1
  return {
    signal: mcpReq.signal,
    progress: async (seconds, message) => {
      if (token === undefined) return
      last = Math.max(last + 1, seconds)
      const params = { progressToken: token, progress: last, message }
      await mcpReq.notify({ method: 'notifications/progress', params })
    },
  }
}

/** Leads the person to the question, if the client can open an address and there is a console. */
async function leadToConsole(
  server: McpServer,
  { host }: CallerGround,
  value: unknown,
  ctx: ServerContext,
): Promise<InputRequiredResult | null> {
  // Answers of tools are objects; both fields are looked at below.
  const { question, action_id } = value as {
    question?: { readonly id: string } | null
    action_id?: string
  }
  if (host.console === null || question == null || action_id === undefined) return null
  if (!opensAddresses(server, ctx)) return null
  const url = questionAddress(host.console, question.id)
  const message = 'A person has to answer this question of writ in its console.'
  return inputRequired({
    inputRequests: { question: inputRequired.elicitUrl({ message, url }) },
    requestState: await STATE.mint({ action_id }, ctx),
  })
}

function opensAddresses({ server }: McpServer, { mcpReq }: ServerContext): boolean {
  const told = field(mcpReq.envelope, CLIENT_CAPABILITIES_META_KEY)
  const elicitation = field(told ?? server.getClientCapabilities(), 'elicitation')
  return isObject(elicitation) && Object.hasOwn(elicitation, 'url')
}
