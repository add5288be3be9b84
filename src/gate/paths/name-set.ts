/** Patterns of single names, in which a star matches any rest. Tests a name against all at once. */
export class NameSet {
  readonly #anyCase: boolean
  readonly #plain: ReadonlySet<string>
  readonly #starred: RegExp | null

  constructor(patterns: readonly string[], options: { readonly anyCase?: boolean } = {}) {
    this.#anyCase = options.anyCase === true
    const spelled = this.#anyCase ? patterns.map((pattern) => pattern.toLowerCase()) : patterns
    this.#plain = new Set(spelled.filter((pattern) => !pattern.includes('*')))
    const starred = spelled.filter((pattern) => pattern.includes('*')).map(sourceOf)
    // Without the flag `i`, which makes V8 look up the other cases of every letter when it compiles.
    this.#starred = starred.length === 0 ? null : new RegExp(`^(?:${starred.join('|')})$`, 's')
  }

  has(name: string): boolean {
    const spelled = this.#anyCase ? name.toLowerCase() : name
    return this.#plain.has(spelled) || this.#starred?.test(spelled) === true
  }
}

function sourceOf(pattern: string): string {
  return pattern.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')
}
