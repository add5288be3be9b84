/**
 * Asks the MCP servers of a flow for their tools before the run begins, so that a misspelt tool is
 * refused at once and not after every attempt. A server that cannot be asked now is left to the run,
 * which tries again and tells why.
 */
import { randomUUID } from 'node:crypto'
import { canonicalJson, FaultError, faultError, showName } from '../base/index.ts'
import type { Participant } from '../contracts/index.ts'
import type { CompiledFlow } from '../flow/index.ts'
import { type FlowHost, refuseHalted, untilHalted } from './flow-host.ts'
import { LiveAttempt } from './live-attempt.ts'
import type { ParticipantRequest } from './participant/participant-request.ts'
import { secretsOf } from './participant/secrets.ts'

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

/** Null if the server cannot be asked. In an attempt of its own, of which nothing is kept. */
async function toolsAt(
  host: FlowHost,
  participant: Server,
  workspace: string,
  abort: AbortSignal,
): Promise<readonly string[] | null> {
  const secrets = secretsOf(participant, host.environment)
  const begin = () =>
    host.attempts.begin({
      actionId: randomUUID(),
      intent: `Listing the tools of an MCP server before a run: ${participant.tool}.`,
      workspace,
      writes: ['**'],
      bases: [],
      hidden: [],
      readOnly: [],
      egress: participant.egress ?? [],
      secrets,
      limits: { seconds: SECONDS_MAX, memoryMb: null, diskMb: null },
      isTraced: false,
      abort,
    })
  // Listing tools does not use the command or the time of its attempt.
  const live = new LiveAttempt({} as never, 0, begin)
  const asking: Omit<ParticipantRequest, 'signal'> = {
    participant,
    input: {},
    kind: 'action',
    workspace,
    attempt: () => live.open(),
    refuseHalted: () => refuseHalted(host),
    operate: async () => ({ decision: 'BLOCK', codes: ['attempt.over'], result: null }),
    secrets,
    seconds: SECONDS_MAX,
    tokensLeft: () => Number.POSITIVE_INFINITY,
    onTokens: () => {},
  }
  const { toolsOf } = await import('./participant/mcp.ts')
  try {
    return await untilHalted(host, abort, (signal) => toolsOf({ ...asking, signal }))
  } catch (error) {
    if (error instanceof FaultError) throw error
    return null
  } finally {
    await live.abandon()
  }
}
