/**
 * Asks the MCP servers of a flow for their tools before the run begins, so that a misspelt tool is
 * refused at once and not after every attempt. A server that ends, refuses or is not there is refused
 * too, with its cause; one that is silent or busy is left to the run, which tries again.
 */
import { canonicalJson, FaultError, faultError, showName } from '../base/index.ts'
import type { Participant } from '../contracts/index.ts'
import type { CompiledFlow } from '../flow/index.ts'
import type { OperationAnswer } from '../service/index.ts'
import { askOutside } from './ask-outside.ts'
import type { FlowHost } from './flow-host.ts'
import { Declined } from './participant/line.ts'
import { type Secrets, secretsOf, withoutSecrets } from './participant/secrets.ts'

type Server = Extract<Participant, { readonly mcp: unknown }>

/** A server that does not list its tools by then is left to the run. */
const SECONDS_MAX = 60

/** Fails if a server has no tool of the name that the flow calls. */
export async function refuseUnknownTools(
  host: FlowHost,
  { nodes, starts }: CompiledFlow,
  workspace: string,
  abort: AbortSignal | undefined,
): Promise<void> {
  const asked = new Set<string>()
  for (const { document, index } of nodes) {
    const participant = document.kind === 'CHECK' ? document.reviewer : document.executor
    if (participant === undefined || !('mcp' in participant)) continue
    const key = canonicalJson(participant)
    if (asked.has(key)) continue
    asked.add(key)
    // What a program needs may be made by nodes before it; a server elsewhere depends on none of them.
    const isKnown = starts.includes(index) || isElsewhere(participant)
    const signal = abort ?? new AbortController().signal
    const tools = await toolsAt(
      host,
      participant,
      workspace,
      signal,
      isKnown ? document.node_id : null,
    )
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

function isElsewhere({ mcp }: Server): boolean {
  return typeof mcp === 'string' && /^https?:\/\//.test(mcp)
}

/** Returns whether asking again would give the same: the server ended, says no, or is not there. */
function isFinal(error: unknown): boolean {
  if (error instanceof Declined) return !/^no answer within/.test(error.message)
  // Errors of the line have a code of the system, those of the endpoint a status.
  const { code, data } = Object(error) as { readonly code?: unknown; readonly data?: unknown }
  const { status } = Object(data) as { readonly status?: unknown }
  const isRefusal = typeof status === 'number' && status >= 400 && status < 500
  return (isRefusal && ![408, 425, 429].includes(status)) || ABSENT.has(String(code))
}

const ABSENT: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH'])

function serverFailed(
  nodeId: string,
  { mcp }: Server,
  error: unknown,
  secrets: Secrets,
): FaultError {
  const server = typeof mcp === 'string' ? mcp : mcp.join(' ')
  const said = error instanceof Error ? error.message : String(error)
  const why = withoutSecrets(said, secrets).slice(0, 500)
  const message = `the MCP server ${showName(server)} of the node ${showName(nodeId)} cannot be asked for its tools: ${why}`
  return faultError('flow.server_failed', nodeId, message, 'put it right; nothing was started')
}

/** Returns null if the server cannot be asked; fails if `nodeId` is given and asking later gives the same. */
async function toolsAt(
  host: FlowHost,
  participant: Server,
  workspace: string,
  abort: AbortSignal,
  nodeId: string | null,
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
    if (nodeId === null || !isFinal(error)) return null
    throw serverFailed(nodeId, participant, error, secretsOf(participant, host.environment))
  }
}
