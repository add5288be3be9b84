/**
 * Operations that a participant elsewhere asks for in its answers: each `tool_calls[]` entry is carried
 * out in its order, and the results go with the next request. An answer that asks for nothing more,
 * or that says something besides, is the last one.
 */
import { isObject, type ParticipantRequest } from './participant-request.ts'

/** More rounds than this are no work. */
const ROUNDS_MAX = 64
const CALLS_MAX = 256

interface ToolResult {
  readonly id: unknown
  readonly decision: string
  readonly codes: readonly string[]
  readonly result: unknown
}

/** Asks until the answer is the last one. `send` sends one document and gives the answer's text. */
export async function converse(
  { input, operate, refuseHalted }: ParticipantRequest,
  send: (document: Readonly<Record<string, unknown>>) => Promise<string>,
): Promise<string> {
  const request: typeof send = async (document) => {
    await refuseHalted()
    return send(document)
  }
  let text = await request(input)
  const results: ToolResult[] = []
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const said = objectIn(text)
    const calls = said === null ? [] : callsOf(said)
    for (const { id, operation } of calls) {
      const { decision, codes, result } = await operate(operation)
      results.push({ id, decision, codes, result })
    }
    if (said === null || calls.length === 0 || isAnswer(said)) return text
    text = await request({ ...input, tool_results: results })
  }
  return text
}

function callsOf(said: Readonly<Record<string, unknown>>): readonly {
  readonly id: unknown
  readonly operation: unknown
}[] {
  const calls = said['tool_calls']
  if (!Array.isArray(calls)) return []
  return calls.slice(0, CALLS_MAX).map((call: unknown, index) => {
    const isWrapped = isObject(call) && Object.hasOwn(call, 'operation')
    return {
      id: isObject(call) ? (call['id'] ?? index) : index,
      operation: isWrapped ? call['operation'] : call,
    }
  })
}

const ANSWER_KEYS = ['result_type', 'artifact', 'review_id', 'total_score', 'plan', 'nodes']

function isAnswer(said: Readonly<Record<string, unknown>>): boolean {
  return ANSWER_KEYS.some((key) => Object.hasOwn(said, key))
}

function objectIn(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}
