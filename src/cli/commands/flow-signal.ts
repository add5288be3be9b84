/** `writ flow signal`: tells a run that something has happened outside; the signal is a fact. */
import { randomUUID } from 'node:crypto'
import {
  DOCUMENT_LIMITS,
  type FaultError,
  faultError,
  nearest,
  readJson,
  showName,
} from '../../base/index.ts'
import { signalNames } from '../../flow/index.ts'
import { type CommandCall, type Exit, usageError } from '../call/command.ts'
import { giveOrder, withPersonsRun } from '../flow/order.ts'

export async function run(call: CommandCall): Promise<Exit> {
  const [runName, name] = call.arguments
  if (runName === undefined || name === undefined)
    throw usageError('say the run and the signal', 'writ flow signal RUN NAME [--data JSON]')
  const data = dataOf(call.options.text('data'))
  return withPersonsRun(call, runName, 'sending a signal', async (persons) => {
    const { flow, state, runId } = persons.run
    const names = signalNames(flow.document)
    if (!names.has(name)) throw unknownSignal(name, names)
    if (state.ended !== null) {
      const message = `the run ${showName(runId)} has ended: ${state.ended}`
      throw faultError('flow.not_waiting', runId, message, `writ flow report ${runId}`)
    }
    const { principal } = persons
    const signal = { kind: 'signal' as const, name, signal_id: randomUUID(), principal }
    return giveOrder(call, persons, data === undefined ? signal : { ...signal, data })
  })
}

function dataOf(text: string | null): unknown {
  if (text === null) return undefined
  const reading = readJson(text, DOCUMENT_LIMITS)
  if (reading.ok) return reading.value
  const message = `what comes with the signal is no JSON: ${reading.refusal.message}`
  throw usageError(message, `writ flow signal RUN NAME --data '{"key": "value"}'`)
}

function unknownSignal(name: string, names: ReadonlySet<string>): FaultError {
  const near = nearest(name, names)
  const known = [...names].map((one) => showName(one)).join(', ')
  const message = `the flow waits for no signal ${showName(name)}`
  const hint =
    near !== null
      ? `did you mean ${showName(near)}?`
      : names.size === 0
        ? 'write `signal: NAME` at a node or an edge of the flow'
        : `it waits for ${known}`
  return faultError('flow.unknown_signal', name, message, hint)
}
