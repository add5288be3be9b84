/**
 * Judges a guard tree beyond its structure: `inputs_used` lists every path that it reads, every
 * operator fits the kind of its path, and a word outside the vocabulary is a warning. It takes broken
 * trees too and skips what it cannot read. The schema reports unknown paths and empty sets.
 */
import { at, showName } from '../../base/index.ts'
import { elements, field } from '../kernel/contract.ts'
import type { Report } from '../kernel/violation.ts'
import { type GuardPath, isGuardPath, type PathKind, pathRow, WINDOW_LEAVES } from './paths.ts'

export interface GuardFindings {
  readonly violations: Report
  readonly warnings: Report
}

/** What a guard is judged by besides itself. */
export interface GuardContext {
  /** The paths that `inputs_used` lists; null where there is no such list to hold to. */
  readonly declared: ReadonlySet<unknown> | null
  readonly actionCodes: ReadonlySet<string>
}

/** Judges `tree`, whose root is at `pointer`. Returns every legal path that it reads. */
export function judgeGuard(
  tree: unknown,
  pointer: string,
  surroundings: GuardContext,
  findings: GuardFindings,
): ReadonlySet<GuardPath> {
  const judge = new GuardJudge(surroundings, findings)
  judge.walk(tree, pointer)
  return judge.read
}

class GuardJudge {
  readonly read = new Set<GuardPath>()
  readonly #surroundings: GuardContext
  readonly #findings: GuardFindings

  constructor(surroundings: GuardContext, findings: GuardFindings) {
    this.#surroundings = surroundings
    this.#findings = findings
  }

  walk(node: unknown, pointer: string): void {
    switch (field(node, 'op')) {
      case 'AND':
      case 'OR':
        return elements(field(node, 'args')).forEach((arg, index) => {
          this.walk(arg, at(`${pointer}/args`, index))
        })
      case 'NOT':
        return this.walk(field(node, 'arg'), `${pointer}/arg`)
      case 'EQ':
        this.#reads(field(node, 'field'), 'scalar', `${pointer}/field`)
        return this.#speaks(field(node, 'field'), field(node, 'value'), `${pointer}/value`)
      case 'IN':
        this.#reads(field(node, 'field'), 'scalar', `${pointer}/field`)
        return this.#speaks(field(node, 'field'), field(node, 'set'), `${pointer}/set`)
      case 'EXISTS':
        return this.#reads(field(node, 'field'), null, `${pointer}/field`)
      case 'INTERSECTS':
        return this.#intersects(node, pointer)
      case 'WINDOW_MATCH':
        return this.#windowMatch(pointer)
      // The schema refuses an unknown operator.
      default:
        return
    }
  }

  #intersects(node: unknown, pointer: string): void {
    const left = field(node, 'left')
    const right = field(node, 'right')
    this.#reads(left, 'set', `${pointer}/left`)
    this.#reads(right, 'set', `${pointer}/right`)
    if (Array.isArray(right)) this.#speaks(left, right, `${pointer}/right`)
    if (Array.isArray(left)) this.#speaks(right, left, `${pointer}/left`)
    if (!Array.isArray(left) || !Array.isArray(right)) return
    this.#findings.violations.add(
      'ruleset.shape',
      pointer,
      'at least one side of INTERSECTS must be a path, here both are sets',
    )
  }

  /** Reads the four leaves without naming them, and so they must be declared like any other. */
  #windowMatch(pointer: string): void {
    const { declared } = this.#surroundings
    for (const leaf of WINDOW_LEAVES) this.read.add(leaf)
    const missing = WINDOW_LEAVES.filter((leaf) => declared !== null && !declared.has(leaf))
    if (missing.length === 0) return
    this.#findings.violations.add(
      'ruleset.undeclared_input',
      pointer,
      `the window match reads ${missing.map(showName).join(', ')}, which inputs_used does not list`,
    )
  }

  /** `wanted` is the kind of path the operator reads; null asks for existence, which fits all. */
  #reads(path: unknown, wanted: PathKind | null, pointer: string): void {
    if (typeof path !== 'string') return
    const { declared } = this.#surroundings
    if (declared !== null && !declared.has(path)) {
      this.#findings.violations.add(
        'ruleset.undeclared_input',
        pointer,
        `the guard reads ${showName(path)}, which inputs_used does not list`,
      )
    }
    if (!isGuardPath(path)) return
    this.read.add(path)
    const { kind } = pathRow(path)
    if (wanted === null || kind === wanted) return
    if (kind === 'existence') {
      this.#findings.violations.add(
        'ruleset.evidence_content',
        pointer,
        `${showName(path)} may be asked for with EXISTS and not read`,
      )
    } else {
      this.#findings.violations.add('ruleset.type_mismatch', pointer, misfit(path, kind, wanted))
    }
  }

  /** Warns about words that the field can never hold; `words` is one string or a list of them. */
  #speaks(path: unknown, words: unknown, pointer: string): void {
    if (!isGuardPath(path)) return
    const { vocabulary } = pathRow(path)
    if (vocabulary === null) return
    const legal = vocabulary === 'registry' ? this.#surroundings.actionCodes : new Set(vocabulary)
    if (!Array.isArray(words)) return this.#judgeWord(words, legal, path, pointer)
    words.forEach((word, index) => {
      this.#judgeWord(word, legal, path, at(pointer, index))
    })
  }

  #judgeWord(word: unknown, legal: ReadonlySet<string>, path: GuardPath, pointer: string): void {
    if (typeof word !== 'string' || word === '' || legal.has(word)) return
    const { warnings } = this.#findings
    warnings.add(
      'ruleset.vocabulary',
      pointer,
      `${showName(word)} is not in the vocabulary of ${showName(path)}`,
      warnings.guess(word, legal),
    )
  }
}

const READERS: Readonly<Record<PathKind, string>> = {
  scalar: 'holds one word, which EQ and IN read',
  set: 'holds a set, which INTERSECTS reads',
  window: 'is a window leaf, which WINDOW_MATCH reads',
  object: 'is an object, which EXISTS may ask for',
  existence: 'may only be asked for with EXISTS',
}

function misfit(path: GuardPath, kind: PathKind, wanted: PathKind): string {
  const operator = wanted === 'set' ? 'INTERSECTS' : 'EQ and IN'
  return `${showName(path)} ${READERS[kind]}: it is not for ${operator}`
}
