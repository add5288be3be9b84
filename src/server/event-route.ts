/** The stream of events to one reader (H-3): from its cursor on, until it leaves or takes nothing. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { parseCursor } from '../api/index.ts'
import { faultError } from '../base/index.ts'
import type { EventHub } from './events.ts'
import { PLAIN_HEADERS } from './front-door.ts'
import type { RouteCall } from './handlers/route-call.ts'

const EVENT_BYTES_MAX = 1 << 20

export async function followEvents(
  events: EventHub,
  call: RouteCall,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<undefined> {
  // This is the route of events.
  const { after, ...filter } = call.query as RouteCall<'followEvents'>['query']
  const last = request.headers['last-event-id']
  const text = typeof last === 'string' ? last : after
  const cursor = text === undefined ? null : parseCursor(text, call.home.home.id)
  if (text !== undefined && cursor === null) {
    throw faultError('api.malformed', '', 'the cursor is not one of this home')
  }
  reply.hijack()
  const { raw } = reply
  raw.writeHead(200, { ...PLAIN_HEADERS, 'content-type': 'text/event-stream' })
  raw.write(': alive\n\n')
  const sink = {
    write: (event: string): boolean => {
      if (raw.destroyed || raw.writableLength > EVENT_BYTES_MAX) {
        raw.destroy()
        return false
      }
      raw.write(event)
      return true
    },
    end: () => raw.end(),
  }
  const leave = await events.join(call.caller, filter, cursor, sink)
  if (raw.destroyed) leave()
  else raw.once('close', leave)
  return undefined
}
