/** Who is asked how. What only some participants need is loaded when one of them is asked. */

import { runCommand } from './command.ts'
import type { ParticipantRequest, Said } from './participant-request.ts'

export async function participate(asking: ParticipantRequest): Promise<Said> {
  const { participant } = asking
  if ('command' in participant) return runCommand(asking)
  if ('http' in participant) return (await import('./http.ts')).askEndpoint(asking)
  if ('mcp' in participant) return (await import('./mcp.ts')).callTool(asking)
  if ('chat' in participant) return (await import('./chat.ts')).askModel(asking)
  return { outcome: 'failed', text: '', tokens: 0, why: 'a person is not asked by a program' }
}
