/** Puts values into a message: `{name}`, `{count, number}`, and plurals in which `#` is the count. */
const PLURAL = /\{(\w+), plural,((?: (?:=\d+|\w+) \{[^{}]*\})+)\}/g
const CASE = /(=\d+|\w+) \{([^{}]*)\}/g
const VALUE = /\{(\w+)(, number)?\}/g

export type WordValues = Readonly<Record<string, string | number>>

/** Which case of a plural a count takes, by language. The browser's own rules take 15 ms to load. */
const RULES: Readonly<Record<string, (count: number) => string>> = {
  'en-US': (count) => (count === 1 ? 'one' : 'other'),
  'zh-CN': () => 'other',
}

/** By language tag; making one takes far longer than using it. */
const numbers = new Map<string, Intl.NumberFormat>()

const PLAIN_MAX = 1000

function numberWords(value: number, tag: string): string {
  if (Number.isInteger(value) && Math.abs(value) < PLAIN_MAX) return String(value)
  const format = numbers.get(tag) ?? new Intl.NumberFormat(tag)
  numbers.set(tag, format)
  return format.format(value)
}

function caseOf(count: number, cases: string, tag: string): string {
  const texts = new Map([...cases.matchAll(CASE)].map(([, name, text]) => [name, text]))
  const rule = RULES[tag]?.(count) ?? 'other'
  return texts.get(`=${count}`) ?? texts.get(rule) ?? texts.get('other') ?? ''
}

export function fill(text: string, values: WordValues, tag: string): string {
  if (!text.includes('{')) return text
  return text
    .replace(PLURAL, (_whole, name: string, cases: string) => {
      const count = Number(values[name])
      return caseOf(count, cases, tag).replaceAll('#', () => numberWords(count, tag))
    })
    .replace(VALUE, (_whole, name: string, asNumber?: string) => {
      const value = values[name] ?? ''
      return asNumber === undefined ? String(value) : numberWords(Number(value), tag)
    })
}
