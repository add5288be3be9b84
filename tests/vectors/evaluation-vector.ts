/**
 * Reads the vectors of the rule kernel (`constitution/1` in spec/vectors/README.md): rulesets and
 * inputs in, the short form of each verdict out. Keys that the format does not name are refused.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { changed, refuseUnknown } from './vector.ts'

/** What a vector compares of a verdict; `rule_ref` is null where no rule gave it. */
export interface ShortVerdict {
  readonly action_code: string
  readonly verdict: string
  readonly rule_ref: string | null
  readonly ruleset_status: string
}

export interface EvaluationVector {
  readonly id: string
  readonly note: string
  readonly context: Readonly<Record<string, unknown>>
  readonly rulesets: readonly unknown[]
  readonly inputs: unknown
  readonly at: number
  readonly want: readonly ShortVerdict[]
  /** The verdicts whole, where a vector pins them. */
  readonly documents: readonly unknown[] | null
}

const CASE_KEYS = [
  'id',
  'note',
  'context',
  'rulesets',
  'inputs',
  'from',
  'remove',
  'set',
  'at',
  'want',
  'documents',
]
const WANT_KEYS = ['action_code', 'verdict', 'rule_ref', 'ruleset_status']

// biome-ignore lint/suspicious/noExplicitAny: a file is checked key by key below
type File = any

export function loadEvaluationVectors(folder: string): readonly EvaluationVector[] {
  const names = readdirSync(folder).filter((name) => /^evaluation-.*\.json$/.test(name))
  const vectors = names
    .sort()
    .flatMap((name) =>
      readEvaluationFile(name, JSON.parse(readFileSync(join(folder, name), 'utf8'))),
    )
  const ids = vectors.map(({ id }) => id)
  const twice = ids.find((id, index) => ids.indexOf(id) !== index)
  if (twice !== undefined) throw new Error(`the id ${twice} is used twice`)
  return vectors
}

export function readEvaluationFile(name: string, file: File): readonly EvaluationVector[] {
  refuseUnknown(name, file, ['spec', 'bases', 'cases'])
  if (file.spec !== 'constitution/1') throw new Error(`${name}: unknown spec ${file.spec}`)
  const bases = file.bases ?? {}
  refuseUnknown(`${name}: bases`, bases, ['rulesets', 'inputs'])
  return file.cases.map((row: File) => readCase(`${name}: ${row.id}`, bases, row))
}

function readCase(where: string, bases: File, row: File): EvaluationVector {
  refuseUnknown(where, row, CASE_KEYS)
  for (const verdict of row.want) {
    refuseUnknown(where, verdict, WANT_KEYS)
    for (const key of WANT_KEYS)
      if (!Object.hasOwn(verdict, key)) throw new Error(`${where}: want lacks ${key}`)
  }
  if (Object.hasOwn(row, 'inputs') === Object.hasOwn(row, 'from'))
    throw new Error(`${where}: either inputs or from`)
  const inputs = Object.hasOwn(row, 'inputs')
    ? row.inputs
    : changed(named(where, bases.inputs, row.from), row.remove, row.set)
  const rulesets = row.rulesets.map((one: unknown) =>
    typeof one === 'string' ? named(where, bases.rulesets, one) : one,
  )
  const { id, note, context = {}, at, want, documents = null } = row
  return { id, note, context, rulesets, inputs, at, want, documents }
}

/** Returns a base by its name. A ruleset that is a text is in `bases` too: a bare text is a name. */
function named(where: string, bases: Record<string, unknown> | undefined, name: string): unknown {
  if (bases === undefined || !Object.hasOwn(bases, name))
    throw new Error(`${where}: no base ${name}`)
  return bases[name]
}
