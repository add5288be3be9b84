/**
 * Reads YAML 1.2 (core schema) into a JSON value, as strictly as JSON is read: no duplicate keys, no
 * tags beyond the core, bounded aliases, the same limits (C-3). The YAML library is loaded at the first
 * use: most runs never need it.
 */
import type { parseDocument as ParseDocument } from 'yaml'
import {
  guardValue,
  isRefusal,
  type JsonLimits,
  type JsonRefusal,
  type ParsedJson,
  utf8Length,
} from '../base/index.ts'

const ALIASES_MAX = 100

export async function readYaml(text: string, limits: JsonLimits): Promise<ParsedJson> {
  if (utf8Length(text) > limits.bytesMax) {
    return refuse('document.too_large', `the text is longer than ${limits.bytesMax} bytes`)
  }
  const { parseDocument } = await import('yaml')
  const parsed = parse(text, parseDocument)
  if (!parsed.ok) return parsed
  const census = guardValue(parsed.value, limits)
  return isRefusal(census) ? { ok: false, refusal: census } : parsed
}

/** The library throws on alias bombs and overflows the stack on absurd nesting. */
function parse(text: string, parseDocument: typeof ParseDocument): ParsedJson {
  try {
    const document = parseDocument(text, {
      version: '1.2',
      schema: 'core',
      uniqueKeys: true,
      prettyErrors: true,
    })
    const [problem] = [...document.errors, ...document.warnings]
    if (problem === undefined)
      return { ok: true, value: document.toJS({ maxAliasCount: ALIASES_MAX }) }
    const { line = 1, col = 1 } = problem.linePos?.[0] ?? {}
    return refuse(...yamlRefusal(problem, { line, column: col }))
  } catch (thrown) {
    return thrown instanceof RangeError
      ? refuse('document.too_deep', 'the document nests too deeply to be read')
      : refuse('document.not_json', 'the text is not YAML for a JSON value')
  }
}

function refuse(code: JsonRefusal['code'], message: string): ParsedJson {
  return { ok: false, refusal: { code, path: '', message } }
}

/** The code and the sentence for a problem that the YAML library found at this place. */
export function yamlRefusal(
  { code, message }: { readonly code: string; readonly message: string },
  { line, column }: { readonly line: number; readonly column: number },
): readonly [JsonRefusal['code'], string] {
  const text = (message.split('\n')[0] ?? '').replace(/ at line \d+, column \d+:?$/, '')
  const detail = `${text.charAt(0).toLowerCase()}${text.slice(1).replace(/:$/, '')}`
  const place = `line ${line} column ${column}`
  return code === 'DUPLICATE_KEY'
    ? ['document.duplicate_key', `${detail}, ${place}`]
    : ['document.not_json', `this is not valid YAML, ${place}: ${detail}`]
}
