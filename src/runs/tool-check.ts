/**
 * Asks the MCP servers of a flow for their tools before the run begins, so that a misspelt tool is
 * refused at once and not after every attempt. A server that cannot be asked now is left to the run,
 * which tries again and tells why.
 */
import { canonicalJson, FaultError, faultError, showName } from '../base/index.ts'
import type { Participant } from '../contracts/index.ts'
import type { CompiledFlow } from '../flow/index.ts'
import type { OperationAnswer } from '../service/index.ts'
import { askOutside } from './ask-outside.ts'
import type { FlowHost } from './flow-host.ts'

type Server = Extract<Participant, { readonly mcp: unknown }>

/** A server that does not list its tools by then is left to the run. */
const SECONDS_MAX = 60

/** Fails if a server has no tool of the name that the flow calls. */
export async function refuseUnknownTools(
  host: FlowHost,
  { nodes }: CompiledFlow,
  workspace: string,
  abort: AbortSignal | undefined,
): Promise<void> {
  const asked = new Set<string>()
  for (const { document } of nodes) {
    const participant = document.kind === 'CHECK' ? document.reviewer : document.executor
    if (participant === undefined || !('mcp' in participant)) continue
    const key = canonicalJson(participant)
    if (asked.has(key)) continue
    asked.add(key)
    const tools = await toolsAt(host, participant, workspace, abort ?? new AbortController().signal)
    if (tools !== null && !tools.includes(participant.tool))
      throw unknownTool(document.node_id, participant, tools)
  }
}

function unknownTool(nodeId: string, { mcp, tool }: Server, tools: readonly string[]): FaultError {
  const server = typeof mcp === 'string' ? mcp : mcp.join(' ')
  const has = tools.length === 0 ? 'it has none' : `it has ${tools.map(showName).join(', ')}`
  const message = `the MCP server ${showName(server)} of the node ${showName(nodeId)} has no tool ${showName(tool)}: ${has}`
  const hint = 'name one of them as `tool` of the participant, then call again'
  return faultError('flow.tool_unknown', nodeId, message, hint)
}

/** A server that lists its tools has nothing to change. */
async function refuseOperation(): Promise<OperationAnswer> {
  return { decision: 'BLOCK', codes: ['attempt.over'], result: null }
}

/** Returns null if the server cannot be asked. */
async function toolsAt(
  host: FlowHost,
  participant: Server,
  workspace: string,
  abort: AbortSignal,
): Promise<readonly string[] | null> {
  const { toolsOf } = await import('./participant/mcp.ts')
  try {
    return await askOutside(
      host,
      {
        participant,
        input: {},
        kind: 'action',
        workspace,
        seconds: SECONDS_MAX,
        intent: `Listing the tools of an MCP server before a run: ${participant.tool}.`,
        abort,
        attemptSeconds: SECONDS_MAX,
      },
      (asking) => toolsOf({ ...asking, operate: refuseOperation }),
    )
  } catch (error) {
    if (error instanceof FaultError) throw error
    return null
  }
}
