/**
 * Normalisation of executor answers (seed 001 §1): wrappers are opened, aliases and versions read,
 * the words of `result_type` and of the format spelt out, a request for input made complete. What
 * the executor meant to answer is never guessed: `result_type` is not invented.
 */
import { at } from '../../base/index.ts'
import {
  type Context,
  elements,
  field,
  isObject,
  type JsonObject,
  type Normalise,
} from '../kernel/contract.ts'
import { ACTION_VERSION } from './action.ts'
import { ObjectDraft, Repairs } from './draft.ts'
import { firstFilled, isFilled, isStringList, readWord } from './loose-values.ts'

const WRAPPERS = ['action', 'result', 'output', 'data', 'payload', 'response'] as const
const MARKS = ['result_type', 'artifact', 'needs_input', 'error'] as const

const VERSION_WORDS: ReadonlySet<string> = new Set([
  ACTION_VERSION,
  'xiaobo_action',
  'xiaobo_action_v0',
  'xiaobo_action_v1.0',
  'action_v1',
])

const FORMAT_WORDS: ReadonlyMap<string, string> = new Map([
  ['text/html', 'html'],
  ['htm', 'html'],
  ['text/markdown', 'md'],
  ['markdown', 'md'],
  ['application/json', 'json'],
  ['text/plain', 'txt'],
  ['text', 'txt'],
  ['text/css', 'css'],
  ['text/javascript', 'js'],
  ['application/javascript', 'js'],
  ['javascript', 'js'],
])

export const normaliseAction: Normalise = (raw, context) => {
  const repairs = new Repairs()
  if (!isObject(raw)) return { document: null, repairs: repairs.list }
  const draft = new ObjectDraft(unwrap(raw, repairs), '', repairs)
  draft.rename('schema_version', ['schema', 'version'], 'action.alias')
  draft.rename('task_id', ['id', 'taskId'], 'action.alias')
  readVersion(draft)
  fillTaskId(draft, context)
  const result = readWord(draft.get('result_type'))
  if (result !== null) draft.set('result_type', result, 'action.result_type')
  if (result === 'NEEDS_INPUT') completeNeedsInput(draft)
  if (result === 'ARTIFACT') readFormat(draft)
  return { document: draft.object, repairs: repairs.list }
}

/**
 * Opens wrappers until the answer itself is on top. The answer is the inner object alone: each other
 * key of a wrapper is dropped and recorded as a repair.
 */
function unwrap(raw: JsonObject, repairs: Repairs): JsonObject {
  let top = raw
  while (!Object.hasOwn(top, 'result_type')) {
    const outer = top
    const wrapper = WRAPPERS.find((key) => isAnswer(field(outer, key)))
    if (wrapper === undefined) break
    for (const key of Object.keys(outer)) {
      if (key !== wrapper) repairs.add('action.unwrap_dropped', at('', key), outer[key], null)
    }
    repairs.add('action.unwrap', at('', wrapper), wrapper, '$')
    top = outer[wrapper] as JsonObject // `isAnswer` accepted it.
  }
  return top
}

function isAnswer(value: unknown): boolean {
  return isObject(value) && MARKS.some((mark) => Object.hasOwn(value, mark))
}

function readVersion(draft: ObjectDraft): void {
  const version = draft.get('schema_version')
  const known = typeof version !== 'string' || VERSION_WORDS.has(version.trim().toLowerCase())
  if (known) draft.set('schema_version', ACTION_VERSION, 'action.version')
}

function fillTaskId(draft: ObjectDraft, context: Context): void {
  const given = draft.get('task_id')
  const known = field(context, 'task_id')
  if (typeof given === 'string' && given !== '') return
  if (typeof known === 'string' && known !== '') draft.set('task_id', known, 'action.task_id')
}

function completeNeedsInput(draft: ObjectDraft): void {
  const given = draft.get('needs_input')
  const docs = field(given, 'required_docs')
  if (Array.isArray(docs) && docs.length > 0) return
  const rebuilt = rebuildRequiredDocs(draft.object)
  if (!isObject(given)) {
    draft.set('needs_input', { required_docs: rebuilt }, 'action.required_docs')
    return
  }
  const inner = new ObjectDraft(given, '/needs_input', draft.repairs)
  inner.set('required_docs', rebuilt, 'action.required_docs')
  draft.replace('needs_input', inner.object)
}

function readFormat(draft: ObjectDraft): void {
  const artifact = draft.get('artifact')
  const format = field(artifact, 'format')
  if (!isObject(artifact) || typeof format !== 'string') return
  // White space and dots go together, so that nothing is left to take off a second time.
  const word = format
    .trim()
    .toLowerCase()
    .replace(/^[\s.]+/, '')
  const inner = new ObjectDraft(artifact, '/artifact', draft.repairs)
  inner.set('format', FORMAT_WORDS.get(word) ?? word, 'action.format')
  draft.replace('artifact', inner.object)
}

interface RequiredDoc {
  readonly name: string
  readonly description: string
  readonly accepted_types: readonly string[]
}

const ASK = 'Say what is needed to go on: the executor asked for input and did not say which.'

/**
 * The documents that an executor asks for, gathered from the other places where executors name them
 * (seed 001 §1). Rebuilt documents carry a name, a description and the accepted types, no more.
 * Never empty: when nothing is named, one document asks for clarification.
 */
function rebuildRequiredDocs(action: JsonObject): readonly RequiredDoc[] {
  const needs = field(action, 'needs_input')
  const inputs = elements(field(action, 'missing_inputs')).flatMap(docOfInput)
  const inner = docsOfContext(field(needs, 'required_context'))
  const context = inner.length > 0 ? inner : docsOfContext(field(action, 'required_context'))
  if (inputs.length + context.length > 0) return inputs.concat(context)
  const reason = firstFilled(field(needs, 'reason'), field(action, 'justification'))
  return [doc('clarification', reason?.trim() ?? ASK, [])]
}

function docOfInput(input: unknown): readonly RequiredDoc[] {
  const name = field(input, 'name')
  if (!isObject(input) || !isFilled(name)) return []
  const description = firstFilled(field(input, 'description'), field(input, 'reason'), name)
  const types = acceptedTypes(field(input, 'accepted_types'))
  return [
    doc(
      name.trim(),
      (description ?? name).trim(),
      types.length > 0 ? types : acceptedTypes(field(input, 'type')),
    ),
  ]
}

/** One type or a list of types; anything else is no statement about types. */
function acceptedTypes(value: unknown): readonly string[] {
  if (isFilled(value)) return [value.trim()]
  return isStringList(value) ? value : []
}

function docsOfContext(context: unknown): readonly RequiredDoc[] {
  return elements(context)
    .filter(isFilled)
    .map((text) => doc(text.trim(), text.trim(), []))
}

function doc(name: string, description: string, types: readonly string[]): RequiredDoc {
  return { name, description, accepted_types: types }
}
