/**
 * The four wire formats of models, as far as a stand-in needs them: how many tool results a request
 * holds, which tools it offers, and how one turn is written, streamed or whole.
 */
import { asObject, type JsonFields } from '../../hosts/index.ts'

/**
 * What the stand-in says at one turn. `patch` calls a tool that takes free text; `namespace` is the group
 * in which the Responses wire offers a tool.
 */
export type ModelTurn =
  | { readonly tool: string; readonly arguments: JsonFields; readonly namespace?: string }
  | { readonly tool: string; readonly patch: string }
  | { readonly text: string }

/** One event of a stream; without a name where the wire has none. */
interface StreamEvent {
  readonly name: string | null
  readonly data: unknown
}

interface WireAnswer {
  /** Of a request without streaming. */
  readonly whole: unknown
  readonly events: readonly StreamEvent[]
}

interface Wire {
  /** Tool results in the conversation so far: the number of the turn. */
  readonly results: (body: JsonFields) => number
  /** Whether the request offers tools; requests of a host for itself (titles, routing) do not. */
  readonly offersTools: (body: JsonFields) => boolean
  readonly answer: (turn: ModelTurn, model: string, id: (prefix: string) => string) => WireAnswer
}

const ANTHROPIC: Wire = {
  results: ({ messages }) =>
    objectsIn(messages)
      .flatMap(({ content }) => objectsIn(content))
      .filter(({ type }) => type === 'tool_result').length,
  offersTools: ({ tools }) => objectsIn(tools).length > 0,
  answer: (turn, model, id) => {
    const isTool = 'tool' in turn
    const block = isTool
      ? { type: 'tool_use', id: id('toolu'), name: turn.tool, input: inputOf(turn) }
      : { type: 'text', text: turn.text }
    const usage = {
      input_tokens: 10,
      output_tokens: 5,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
    }
    const message = {
      id: id('msg'),
      type: 'message',
      role: 'assistant',
      model,
      stop_sequence: null,
      usage,
    }
    const stop = isTool ? 'tool_use' : 'end_turn'
    const begun = isTool ? { ...block, input: {} } : { type: 'text', text: '' }
    const delta = isTool
      ? { type: 'input_json_delta', partial_json: JSON.stringify(inputOf(turn)) }
      : { type: 'text_delta', text: turn.text }
    const data = [
      { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
      { type: 'content_block_start', index: 0, content_block: begun },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: stop, stop_sequence: null }, usage },
      { type: 'message_stop' },
    ]
    return {
      whole: { ...message, content: [block], stop_reason: stop },
      events: data.map((one) => ({ name: one.type, data: one })),
    }
  },
}

const RESPONSES: Wire = {
  results: ({ input }) =>
    objectsIn(input).filter(({ type }) => typeof type === 'string' && type.endsWith('_output'))
      .length,
  offersTools: ({ tools }) => objectsIn(tools).length > 0,
  answer: (turn, model, id) => {
    const item = responseItem(turn, id)
    const usage = {
      input_tokens: 10,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 5,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 15,
    }
    const begun = { id: id('resp'), object: 'response', model }
    const whole = { ...begun, status: 'completed', output: [item], usage }
    const data = [
      { type: 'response.created', response: { ...begun, status: 'in_progress', output: [] } },
      {
        type: 'response.output_item.added',
        output_index: 0,
        item: { ...item, status: 'in_progress' },
      },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: whole },
    ]
    const events = data.map((one, at) => ({
      name: one.type,
      data: { ...one, sequence_number: at },
    }))
    return { whole, events }
  },
}

function responseItem(turn: ModelTurn, id: (prefix: string) => string): JsonFields {
  const status = 'completed'
  if ('patch' in turn) {
    const { tool: name, patch: input } = turn
    return { type: 'custom_tool_call', id: id('ctc'), call_id: id('call'), name, input, status }
  }
  if ('tool' in turn) {
    const args = JSON.stringify(turn.arguments)
    const { namespace } = turn
    return {
      type: 'function_call',
      ...(namespace === undefined ? {} : { namespace }),
      id: id('fc'),
      call_id: id('call'),
      name: turn.tool,
      arguments: args,
      status,
    }
  }
  const content = [{ type: 'output_text', text: turn.text, annotations: [] }]
  return { type: 'message', id: id('msg'), role: 'assistant', status, content }
}

const CHAT: Wire = {
  results: ({ messages }) => objectsIn(messages).filter(({ role }) => role === 'tool').length,
  offersTools: ({ tools }) => objectsIn(tools).length > 0,
  answer: (turn, model, id) => {
    const isTool = 'tool' in turn
    const call = isTool
      ? [
          {
            index: 0,
            id: id('call'),
            type: 'function',
            function: { name: turn.tool, arguments: JSON.stringify(inputOf(turn)) },
          },
        ]
      : []
    const message = isTool
      ? { role: 'assistant', content: null, tool_calls: call }
      : { role: 'assistant', content: turn.text }
    const finish = isTool ? 'tool_calls' : 'stop'
    const base = { id: id('chat'), created: 1_700_000_000, model }
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
    const chunk = (choices: readonly unknown[], more = {}): StreamEvent => ({
      name: null,
      data: { ...base, object: 'chat.completion.chunk', choices, ...more },
    })
    return {
      whole: {
        ...base,
        object: 'chat.completion',
        choices: [{ index: 0, message, finish_reason: finish }],
        usage,
      },
      events: [
        chunk([{ index: 0, delta: message, finish_reason: null }]),
        chunk([{ index: 0, delta: {}, finish_reason: finish }]),
        chunk([], { usage }),
        { name: null, data: '[DONE]' },
      ],
    }
  },
}

const GEMINI: Wire = {
  results: ({ contents }) =>
    objectsIn(contents)
      .flatMap(({ parts }) => objectsIn(parts))
      .filter((part) => 'functionResponse' in part).length,
  offersTools: ({ tools }) =>
    objectsIn(tools).some(({ functionDeclarations }) => objectsIn(functionDeclarations).length > 0),
  answer: (turn, model, id) => {
    const part =
      'tool' in turn
        ? { functionCall: { id: id('fc'), name: turn.tool, args: inputOf(turn) } }
        : { text: turn.text }
    const whole = {
      candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }],
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
      modelVersion: model,
    }
    return { whole, events: [{ name: null, data: whole }] }
  },
}

/** The wire of a request, by its path. */
export function wireOf(
  path: string,
): { readonly wire: Wire; readonly isStreamed: boolean | null } | null {
  if (path.endsWith('/messages')) return { wire: ANTHROPIC, isStreamed: null }
  if (path.endsWith('/responses')) return { wire: RESPONSES, isStreamed: null }
  if (path.endsWith('/chat/completions')) return { wire: CHAT, isStreamed: null }
  if (path.endsWith(':streamGenerateContent')) return { wire: GEMINI, isStreamed: true }
  return path.endsWith(':generateContent') ? { wire: GEMINI, isStreamed: false } : null
}

function inputOf(turn: Exclude<ModelTurn, { text: string }>): JsonFields {
  return 'patch' in turn ? { input: turn.patch } : turn.arguments
}

function objectsIn(value: unknown): readonly JsonFields[] {
  if (!Array.isArray(value)) return []
  return value.map(asObject).filter((item) => item !== null)
}
