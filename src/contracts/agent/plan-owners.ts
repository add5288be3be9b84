/** Who may own a task: three agents by default, or those that `context.owners` lists. */
import { type Context, field } from '../kernel/contract.ts'
import { isStringList } from './loose-values.ts'

const DEFAULT_OWNERS = ['xiaobo', 'xiaojing', 'xiaoxie'] as const

export interface Owners {
  readonly names: ReadonlySet<string>
  /** The owner of a task whose own owner is unknown. */
  readonly fallback: string
}

export function ownersOf(context: Context): Owners {
  const given = field(context, 'owners')
  const names = new Set<string>(isStringList(given) ? given : [])
  const [first] = names
  if (first === undefined) return DEFAULTS
  return { names, fallback: names.has(DEFAULTS.fallback) ? DEFAULTS.fallback : first }
}

const DEFAULTS: Owners = { names: new Set(DEFAULT_OWNERS), fallback: DEFAULT_OWNERS[0] }
