/**
 * What `make` starts for its goals: the recipes of the targets, read from the text of a makefile, and
 * the files that the text includes. A variable or function that the text does not settle is `UNKNOWN`.
 */
import { UNKNOWN } from './shell-text.ts'

interface MakeRule {
  readonly needs: readonly string[]
  readonly recipe: readonly string[]
}

interface Makefile {
  readonly includes: readonly string[]
  readonly rules: ReadonlyMap<string, MakeRule>
  /** Texts that are run while the makefile is read: `$(shell …)`, `NAME != …`, and its own shell. */
  readonly texts: readonly string[]
  /** Variables that recipes get. */
  readonly variables: ReadonlyMap<string, string>
}

const VARIABLE = /^(?:export\s+|override\s+)*([A-Za-z_.][\w.-]*)\s*(\+|\?|::?:?|!)?=\s*(.*)$/

export function readMakefile(text: string, given: ReadonlyMap<string, string>): Makefile {
  const variables = new Map([['MAKE', 'make'], ['CURDIR', '.'], ['PATH', ''], ...given])
  const includes: string[] = []
  const texts: string[] = []
  const rules = new Map<string, { needs: string[]; recipe: string[] }>()
  let open: readonly string[] = []
  const expand = (line: string): string => expanded(line, variables, texts)
  for (const line of text.replace(/\\\n[ \t]*/g, ' ').split('\n')) {
    if (line.startsWith('\t')) {
      for (const target of open) rules.get(target)?.recipe.push(expand(bare(line.slice(1))))
      continue
    }
    const plain = line.replace(/(^|\s)#.*$/, '').trim()
    const [, files] = /^(?:-|s)?include\s+(.+)$/.exec(plain) ?? []
    const [, name, kind, value = ''] = VARIABLE.exec(plain) ?? []
    if (files !== undefined) includes.push(...expand(files).split(/\s+/))
    else if (name !== undefined) {
      if (kind === '!') texts.push(value)
      const known = variables.get(name)
      if (given.has(name) || (kind === '?' && known !== undefined)) continue
      const more = kind === '+' && known !== undefined ? `${known} ` : ''
      variables.set(name, kind === '!' ? UNKNOWN : `${more}${expand(value)}`)
    } else if (plain.includes(':')) open = addRule(rules, expand(plain))
  }
  const { SHELL: shell } = Object.fromEntries(variables)
  return {
    includes,
    rules,
    variables,
    texts: shell === undefined ? texts : [...texts, `${shell} -c true`],
  }
}

function addRule(
  rules: Map<string, { needs: string[]; recipe: string[] }>,
  line: string,
): readonly string[] {
  const [, names = '', rest = ''] = /^([^:]+)::?(.*)$/.exec(line) ?? []
  const [needs = '', ...inline] = rest.split(';')
  const targets = names.split(/\s+/).filter((name) => name !== '')
  for (const target of targets) {
    const rule = rules.get(target) ?? { needs: [], recipe: [] }
    rule.needs.push(...needs.split(/[\s|]+/).filter((name) => name !== ''))
    if (inline.length > 0) rule.recipe.push(bare(inline.join(';').trim()))
    rules.set(target, rule)
  }
  return targets
}

/** A line of a recipe without the signs that are make's. */
function bare(line: string): string {
  return line.replace(/^[@+-\s]+/, '')
}

function expanded(line: string, variables: ReadonlyMap<string, string>, texts: string[]): string {
  let result = ''
  for (let at = 0; at < line.length; at++) {
    const next = line[at + 1] ?? ''
    if (line[at] !== '$') result += line[at]
    else if (next === '$') result += line[++at]
    else if (next === '(' || next === '{') {
      const end = closing(line, at + 1)
      const inside = line.slice(at + 2, end)
      const [, command] = /^shell\s+(.*)$/.exec(inside) ?? []
      if (command !== undefined) texts.push(expanded(command, variables, texts))
      result += variables.get(inside) ?? UNKNOWN
      at = end
    } else {
      result += UNKNOWN
      at++
    }
  }
  return result
}

function closing(line: string, from: number): number {
  const [open, close] = line[from] === '(' ? ['(', ')'] : ['{', '}']
  let depth = 0
  for (let at = from; at < line.length; at++) {
    if (line[at] === open) depth++
    if (line[at] === close && --depth === 0) return at
  }
  return line.length
}

/** The lines that are run for these goals, or for the first target, and for the texts of make; each is a text of a shell. */
export function recipesFor(
  { rules }: Makefile,
  goals: readonly string[],
  makefiles: readonly string[],
): readonly string[] {
  const usual = [...rules.keys()].find((name) => !name.startsWith('.'))
  const wanted = new Set(goals.length > 0 || usual === undefined ? goals : [usual])
  // Make remakes its own texts first.
  for (const name of makefiles) wanted.add(name)
  // A target that is made by a pattern is not told from one that is a plain file.
  for (const name of rules.keys()) if (name.includes('%')) wanted.add(name)
  for (const name of wanted) for (const need of rules.get(name)?.needs ?? []) wanted.add(need)
  return [...wanted].flatMap((name) => rules.get(name)?.recipe ?? [])
}
