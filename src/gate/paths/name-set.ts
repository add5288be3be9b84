/** Patterns of single names, in which a star matches any rest. Tests a name against all at once. */
export class NameSet {
  readonly #anyCase: boolean
  readonly #plain: ReadonlySet<string>
  readonly #starred: RegExp | null

  constructor(patterns: readonly string[], options: { readonly anyCase?: boolean } = {}) {
    this.#anyCase = options.anyCase === true
    const plain = patterns.filter((pattern) => !pattern.includes('*'))
    this.#plain = new Set(this.#anyCase ? plain.map((name) => name.toLowerCase()) : plain)
    const starred = patterns.filter((pattern) => pattern.includes('*')).map(sourceOf)
    this.#starred =
      starred.length === 0
        ? null
        : new RegExp(`^(?:${starred.join('|')})$`, this.#anyCase ? 'si' : 's')
  }

  has(name: string): boolean {
    const plain = this.#anyCase ? name.toLowerCase() : name
    return this.#plain.has(plain) || this.#starred?.test(name) === true
  }
}

function sourceOf(pattern: string): string {
  return pattern.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')
}
