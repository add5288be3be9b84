/** Patterns of one name, in which a star stands for any rest. Asked about many names in one look. */
export class NameSet {
  readonly #plain: ReadonlySet<string>
  readonly #starred: RegExp | null

  constructor(patterns: readonly string[]) {
    this.#plain = new Set(patterns.filter((pattern) => !pattern.includes('*')))
    const starred = patterns.filter((pattern) => pattern.includes('*')).map(sourceOf)
    this.#starred = starred.length === 0 ? null : new RegExp(`^(?:${starred.join('|')})$`, 's')
  }

  has(name: string): boolean {
    return this.#plain.has(name) || this.#starred?.test(name) === true
  }
}

function sourceOf(pattern: string): string {
  return pattern.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')
}
