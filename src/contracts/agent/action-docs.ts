/**
 * The documents that an executor asks for, gathered from the other places where executors name them
 * (seed 001 §1). Rebuilt documents carry a name, a description and the accepted types, no more.
 */
import { elements, field, isObject, type JsonObject } from '../kernel/contract.ts'
import { firstFilled, isFilled, isStringList } from './loose-values.ts'

interface RequiredDoc {
  readonly name: string
  readonly description: string
  readonly accepted_types: readonly string[]
}

const ASK = 'Say what is needed to go on: the executor asked for input and did not say which.'

/** Never empty: when nothing is named, one document asks for clarification. */
export function rebuildRequiredDocs(action: JsonObject): readonly RequiredDoc[] {
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
