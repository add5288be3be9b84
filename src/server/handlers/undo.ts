/** Requests that an act is taken back: asked by the actor, answered by a human (M-1, H-2). */

import { knownStreams, writableStream } from './actions.ts'
import type { Handler } from './route-call.ts'

export const requestUndo: Handler<'requestUndo'> = async (call) => {
  const { action_id, reason, stream: named } = call.body
  const stream = writableStream(call, named)
  const asked = await call.home.withGate(call.caller, stream, (gate) =>
    gate.undoRequests.ask(action_id, reason),
  )
  return { value: { ...asked, stream } }
}

export const listUndoRequests: Handler<'listUndoRequests'> = async (call) => {
  const undo_requests = []
  for (const stream of await knownStreams(call)) {
    const found = await call.home.withGate(call.caller, stream, (gate) =>
      gate.undoRequests.pending(),
    )
    undo_requests.push(...found.map((one) => ({ ...one, stream })))
  }
  return { value: { undo_requests } }
}
