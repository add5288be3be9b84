/**
 * A model behind an OpenAI-compatible endpoint. The instructions describe the document that it has to
 * answer with; it may ask for operations with the function `propose_action`, unless it has no tools.
 * The key is the first of the secrets. The run retries, not the client.
 */
import OpenAI from 'openai'
import type { ChatCompletionMessageParam, ChatCompletionTool } from 'openai/resources'
import type { Participant } from '../../contracts/index.ts'
import { Declined, failure, heard, LineFailure, withDeadline } from './line.ts'
import { operationText, type ParticipantRequest, type Said } from './participant-request.ts'
import { patientFetch } from './patient-fetch.ts'
import { withoutSecrets } from './secrets.ts'

const ROUNDS_MAX = 64

const PROPOSE_ACTION: ChatCompletionTool = {
  type: 'function',
  function: {
    name: 'propose_action',
    description:
      'Ask for one operation in the workspace. It is judged, rehearsed and answered with { decision, codes, result }.',
    parameters: {
      type: 'object',
      properties: {
        operation: {
          type: 'object',
          description:
            'operation_v1, such as { "type": "COMMAND_EXECUTION", "argv": ["ls"], "cwd": "/workspace" } or { "type": "FILE_WRITE", "path": "/workspace/a.txt", "content": "…" }',
        },
      },
      required: ['operation'],
    },
  },
}

export function askModel(asking: ParticipantRequest): Promise<Said> {
  const spent = { tokens: 0 }
  return heard(
    async () => {
      const text = await withDeadline(asking, (signal) => talk(asking, spent, signal))
      return { text, tokens: spent.tokens }
    },
    () => spent.tokens,
  )
}

async function talk(
  asking: ParticipantRequest,
  spent: { tokens: number },
  signal: AbortSignal,
): Promise<string> {
  const { participant, input, workspace, kind } = asking
  if (!('chat' in participant)) throw new Declined('no model')
  const client = clientOf(participant.chat, asking)
  const messages: ChatCompletionMessageParam[] = [
    { role: 'system', content: instructionsFor(participant, kind, workspace) },
    { role: 'user', content: JSON.stringify(input) },
  ]
  for (let round = 0; round < ROUNDS_MAX; round++) {
    await asking.refuseHalted()
    refuseSpent(asking.tokensLeft())
    const completion = await told(asking.secrets, () =>
      client.chat.completions.create(
        { ...settingsOf(participant, asking.tokensLeft()), messages },
        { signal },
      ),
    )
    refuseOther(completion, asking.secrets)
    const used = tokensOf(completion, JSON.stringify(messages).length)
    spent.tokens += used
    asking.onTokens(used)
    const message = completion.choices[0]?.message
    if (message === undefined) throw new LineFailure('the endpoint answered with no choice')
    const calls = message.tool_calls ?? []
    if (calls.length === 0) return message.content ?? ''
    messages.push(message)
    for (const call of calls) {
      const content = await carriedOut(asking, call)
      messages.push({ role: 'tool', tool_call_id: call.id, content })
    }
  }
  throw new Declined('the model went on asking for operations')
}

/** No tokenizer in use has a longer token. */
const TOKEN_CHARACTERS_MAX = 128
/** A cautious estimate: most texts have more characters a token. */
const TOKEN_CHARACTERS = 3

/**
 * Returns the tokens that a round used. The endpoint counts for itself, so a count that is none is replaced
 * by an estimate from the characters of both texts, and one that is too small for the answer is raised:
 * a participant that sets its own meter to zero would have no budget.
 */
function tokensOf({ usage, choices }: OpenAI.ChatCompletion, sentCharacters: number): number {
  const answered = JSON.stringify(choices.map(({ message }) => message)).length
  const said: unknown = usage?.total_tokens
  if (typeof said === 'number' && Number.isSafeInteger(said) && said > 0)
    return Math.max(said, Math.ceil(answered / TOKEN_CHARACTERS_MAX))
  return Math.ceil((sentCharacters + answered) / TOKEN_CHARACTERS)
}

/** A page, or any other document, is no completion, and will be none when it is asked for again. */
function refuseOther(completion: unknown, secrets: ParticipantRequest['secrets']): void {
  const { choices } = Object(completion) as { readonly choices?: unknown }
  if (Array.isArray(choices)) return
  const words = typeof completion === 'string' ? completion : JSON.stringify(completion)
  const shown = withoutSecrets(words ?? '', secrets)
    .trim()
    .slice(0, 200)
  throw new Declined(`the endpoint answers with something else than a completion: ${shown}`)
}

type Model = Extract<Participant, { readonly chat: string }>

/** The model's own limit, and what is left of the budget: the smaller one holds. */
function settingsOf({ model, temperature, max_tokens, tools }: Model, left: number) {
  const limit = Math.min(max_tokens ?? Number.POSITIVE_INFINITY, left)
  return {
    model,
    ...(temperature === undefined ? {} : { temperature }),
    ...(Number.isFinite(limit) ? { max_tokens: limit } : {}),
    ...(tools === 'none' ? {} : { tools: [PROPOSE_ACTION] }),
  }
}

/** Before each round: another one would use more than there is. */
function refuseSpent(left: number): void {
  if (left <= 0) throw new Declined('the budget of tokens is used up')
}

type ToolCall = NonNullable<OpenAI.Chat.ChatCompletionMessage['tool_calls']>[number]

async function carriedOut({ operate }: ParticipantRequest, call: ToolCall): Promise<string> {
  if (call.type !== 'function' || call.function.name !== 'propose_action')
    return JSON.stringify({ error: 'there is only the function propose_action' })
  try {
    // The model may send any JSON; the gate judges it.
    const given = JSON.parse(call.function.arguments) as { readonly operation?: unknown }
    return operationText(await operate(given.operation ?? given))
  } catch (error) {
    if (error instanceof SyntaxError) return JSON.stringify({ error: 'the arguments are not JSON' })
    throw error
  }
}

/** The run retries and bounds the time; another address is for the flow to name. */
function clientOf(baseURL: string, { secrets, seconds }: ParticipantRequest): OpenAI {
  // Something has to be there, or the client looks for a key by itself.
  const [apiKey = 'none'] = Object.values(secrets)
  const timeout = seconds * 1000
  return new OpenAI({ baseURL, apiKey, maxRetries: 0, timeout, fetch: patientFetch })
}

/** Failures of the client, as failures of the line or of the endpoint. */
async function told<T>(secrets: ParticipantRequest['secrets'], work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof OpenAI.APIError && typeof error.status === 'number')
      throw failure(error.status, error.message, secrets)
    // The client throws nothing but errors.
    throw new LineFailure((error as Error).message)
  }
}

function instructionsFor(
  { system, tools }: Model,
  kind: ParticipantRequest['kind'],
  workspace: string,
): string {
  return [
    ...(system === undefined ? [] : [system]),
    tools === 'none'
      ? 'You have no tools: everything that you need is in the message.'
      : `You work in ${workspace}. Use the function propose_action for everything that reads or changes it.`,
    'When you are done, answer with one JSON object and nothing else:',
    DOCUMENTS[kind],
  ].join('\n')
}

const DOCUMENTS: Readonly<Record<ParticipantRequest['kind'], string>> = {
  action:
    '{"schema_version":"xiaobo_action_v1","task_id":<node.node_id>,"result_type":"ARTIFACT"|"NEEDS_INPUT"|"NOOP"|"ERROR","artifact":{"name","format":"md|txt|json|html|css|js","content"}}',
  review:
    '{"schema_version":"xiaojing_review_v1","review_id":<as given>,"artifact_digest":<as given>,"task_id":<artifact.id>,"review_target":"NODE"|"PLAN","total_score":0-100,"action_required":"APPROVE"|"MODIFY"|"REQUEST_EXTERNAL_INPUT","summary","breakdown":[],"suggestions":[{"priority","change","steps":[],"acceptance_criteria"}]}',
  plan: '{"plan":{"title"},"nodes":[{"task_id","node_type":"GOAL"|"ACTION"|"CHECK","title","owner_agent_id"}],"edges":[{"from_task_id","to_task_id","edge_type":"DECOMPOSE"|"DEPENDS_ON"|"ALTERNATIVE","metadata"}]}',
}
