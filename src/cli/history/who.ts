/** Reads the principal that a command names as its argument. */
import { FaultError, fault, showName } from '../../base/index.ts'
import { HOST_STREAM, isStreamName, type Principal, parsePrincipal } from '../../ledger/index.ts'
import type { CommandCall } from '../call/command.ts'

export function principalArgument(call: CommandCall): Principal {
  const [text, ...others] = call.arguments
  const principal = text === undefined || others.length > 0 ? null : parsePrincipal(text)
  if (principal !== null) return principal
  const message =
    text === undefined ? 'name one principal' : `${showName(text)} does not name a principal`
  const hint = 'kind:id@namespace, such as device:pump-3@north-farm; kinds: human ai script device'
  throw new FaultError(fault('cli.usage', '', null, { message, hint }))
}

/** Humans see every stream unless some are named; everybody else sees `main`. */
export function streamsArgument(call: CommandCall, principal: Principal): readonly string[] | null {
  const named = call.options.texts('stream')
  for (const stream of named) {
    if (isStreamName(stream) && stream !== HOST_STREAM) continue
    const message = `${showName(stream)} is not the name of a stream that can be given`
    throw new FaultError(fault('fact.stream', '', null, { message }))
  }
  if (named.length > 0) return [...new Set(named)]
  return principal.kind === 'human' ? null : ['main']
}
