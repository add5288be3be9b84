/**
 * Expressions made by chance, each in two spellings: as writ reads it, and as plain CEL. They differ
 * where writ adds to CEL: `->` is `!(a) || (b)` there, and an integer literal next to a double has a
 * point. Most are well typed; values are now and then missing, null or of another type.
 */
import type { Environment } from '../../src/expression/index.ts'
import type { Chance } from './chance.ts'

/** As writ reads it, and as CEL. */
export type Spelling = readonly [ours: string, theirs: string]

export const ENVIRONMENT: Environment = {
  variables: {
    state: {
      fields: {
        i: 'int',
        j: 'int',
        d: 'double',
        e: 'double',
        b: 'bool',
        c: 'bool',
        s: 'string',
        t: 'string',
        n: { nullable: 'double' },
        texts: { list: 'string' },
        ints: { list: 'int' },
        rows: { list: { fields: { name: 'string', size: 'int' } } },
        map: { fields: {}, others: 'string' },
        x: 'any',
      },
    },
  },
}

const same = (text: string): Spelling => [text, text]
const join = (parts: readonly (Spelling | string)[]): Spelling => [
  parts.map((part) => (typeof part === 'string' ? part : part[0])).join(''),
  parts.map((part) => (typeof part === 'string' ? part : part[1])).join(''),
]

const INTS = ['0', '1', '2', '3', '7', '-1', '-5', '100', '9007199254740993', '9223372036854775807']
const DOUBLES = ['0.5', '1.0', '2.25', '-3.5', '1e3', '2.5e-3', '.5', '9007199254740992.0']
const TEXTS = ['""', '"a"', "'ab'", '"b c"', "r'a\\\\d'", '"\\u00e9"', "'\\n'", '"😀"', '"""x"y"""']

export class Generator {
  readonly #chance: Chance
  #local = false

  constructor(chance: Chance) {
    this.#chance = chance
  }

  condition(depth: number): Spelling {
    const chance = this.#chance
    if (depth <= 0) return this.#atom(0)
    switch (chance.below(10)) {
      case 0:
      case 1:
        return this.#chain(' && ', depth)
      case 2:
      case 3:
        return this.#chain(' || ', depth)
      case 4:
        return join(['!', this.#closed(depth - 1)])
      case 5:
        return this.#implication(depth)
      case 6:
        return join([
          this.#closed(depth - 1),
          ' ? ',
          this.#closed(depth - 1),
          ' : ',
          this.#closed(depth - 1),
        ])
      default:
        return this.#atom(depth)
    }
  }

  #closed(depth: number): Spelling {
    return join(['(', this.condition(depth), ')'])
  }

  #chain(operator: string, depth: number): Spelling {
    const count = 2 + this.#chance.below(3)
    const parts: (Spelling | string)[] = [this.#closed(depth - 1)]
    for (let index = 1; index < count; index++) parts.push(operator, this.#closed(depth - 1))
    return join(parts)
  }

  /** `a -> b -> c` without brackets on our side, so that the association is tried too. */
  #implication(depth: number): Spelling {
    const [one, two] = [this.#closed(depth - 1), this.#closed(depth - 1)]
    if (this.#chance.once(2)) return [`(${one[0]} -> ${two[0]})`, `(!${one[1]} || ${two[1]})`]
    const three = this.#closed(depth - 1)
    return [
      `(${one[0]} -> ${two[0]} -> ${three[0]})`,
      `(!${one[1]} || (!${two[1]} || ${three[1]}))`,
    ]
  }

  #atom(depth: number): Spelling {
    const chance = this.#chance
    switch (chance.below(14)) {
      case 0:
        return same(chance.pick(['true', 'false']))
      case 1:
        return same(chance.pick(['state.b', 'state.c', 'state["b"]']))
      case 2:
      case 3:
        return join([this.int(2), this.#comparison(), this.int(2)])
      case 4:
        return join([this.double(2), this.#comparison(), this.double(2)])
      case 5:
        return join([this.int(1), this.#comparison(), this.#plainDouble()])
      case 6:
        return join([this.text(1), this.#comparison(), this.text(1)])
      case 7:
        return join([
          this.text(1),
          chance.pick(['.startsWith(', '.endsWith(', '.contains(']),
          this.text(1),
          ')',
        ])
      case 8:
        return same(
          chance.pick(['state.n == null', 'state.n != null', 'state.x == null', 'state.n > 1.5']),
        )
      case 9:
        return this.#membership()
      case 10:
        return same(
          chance.pick(['has(state.x)', 'has(state.map.k)', 'has(state.i)', 'has(state.x.y)']),
        )
      case 11:
        return this.#any()
      case 12:
        return this.#macro(depth)
      default:
        return this.#lists()
    }
  }

  #comparison(): string {
    return ` ${this.#chance.pick(['==', '!=', '<', '<=', '>', '>='])} `
  }

  #membership(): Spelling {
    const chance = this.#chance
    return chance.pick([
      () => join([this.text(0), ' in state.texts']),
      () => join([this.int(0), ' in state.ints']),
      () => join([this.text(0), ' in state.map']),
      () => join([this.text(0), ' in [', this.text(0), ', ', this.text(0), ']']),
      () => join([this.int(1), ' in [', this.int(0), ', ', this.int(1), ']']),
      () => join(['state.x in [', this.text(0), ']']),
    ])()
  }

  #any(): Spelling {
    const chance = this.#chance
    return chance.pick([
      () => join(['state.x', this.#comparison(), this.text(0)]),
      () => join(['state.x', this.#comparison(), this.#anyNumber()]),
      () => join(['state.x + ', this.#anyNumber(), this.#comparison(), this.#anyNumber()]),
      () => join(['state.x + state.i', this.#comparison(), '3']),
      () => same('state.x == state.x'),
      () => same('state.x.y == "a"'),
      () => same('state.x[0] == 1.0'),
      () => same('size(state.x) > 1'),
      () => join(['state.x == ', this.int(0)]),
    ])()
  }

  #lists(): Spelling {
    return same(
      this.#chance.pick([
        'state.texts[0] == "a"',
        'state.ints[1] > 2',
        'state.texts == ["a", "b"]',
        'state.ints != [1, 2, 3]',
        'size(state.texts) == 2',
        'state.ints.size() >= 2',
        'state.ints[state.i] == 1',
        'state.map["k"] == "a"',
        'state.map[state.s] == "a"',
        'state.rows[0].name == state.s',
        '[1, 2][state.i] == 2',
        '(state.b ? state.n : null) == null',
        '(state.c ? null : state.i) == 3',
        'null in [state.n, null]',
        'state.n in [null, 1.5]',
        '(state.b ? state.s : state.x) == "a"',
        '[state.x, state.i][0] == 1',
      ]),
    )
  }

  #macro(depth: number): Spelling {
    if (this.#local || depth <= 0) return same('state.b')
    this.#local = true
    const name = this.#chance.pick(['exists', 'all'])
    const body = this.#chance.pick([
      () => join(['state.texts.', name, '(v, v', this.#comparison(), this.text(0), ')']),
      () => join(['state.ints.', name, '(v, v', this.#comparison(), this.int(1), ')']),
      () => join(['state.ints.', name, '(v, 10 / v > 2)']),
      () =>
        join([
          'state.rows.',
          name,
          '(r, r.name',
          this.#comparison(),
          this.text(0),
          ' && ',
          this.condition(0),
          ')',
        ]),
    ])()
    this.#local = false
    return body
  }

  int(depth: number): Spelling {
    const chance = this.#chance
    if (depth <= 0 || chance.once(2)) return same(chance.pick(['state.i', 'state.j', ...INTS]))
    return chance.pick([
      () =>
        join([
          '(',
          this.int(depth - 1),
          ` ${chance.pick(['+', '-', '*', '/', '%'])} `,
          this.int(depth - 1),
          ')',
        ]),
      () => join(['-(', this.int(depth - 1), ')']),
      () => join(['size(', this.text(depth - 1), ')']),
      () => join(['int(', this.double(depth - 1), ')']),
      () => same('size(state.ints)'),
      () =>
        join(['(', this.condition(0), ' ? ', this.int(depth - 1), ' : ', this.int(depth - 1), ')']),
    ])()
  }

  /** Integer literals among doubles are written with a point for CEL only. */
  double(depth: number): Spelling {
    const chance = this.#chance
    if (depth <= 0 || chance.once(2)) return this.#plainDouble()
    return chance.pick([
      () =>
        join([
          '(',
          this.#plainDouble(),
          ` ${chance.pick(['+', '-', '*', '/'])} `,
          this.#doubleOrInt(),
          ')',
        ]),
      () =>
        join([
          '(',
          this.#doubleOrInt(),
          ` ${chance.pick(['+', '-', '*', '/'])} `,
          this.#plainDouble(),
          ')',
        ]),
      () => join(['-(', this.double(depth - 1), ')']),
      () => join(['double(', this.int(depth - 1), ')']),
    ])()
  }

  #plainDouble(): Spelling {
    return same(this.#chance.pick(['state.d', 'state.e', ...DOUBLES]))
  }

  #doubleOrInt(): Spelling {
    const digits = this.#chance.pick(['0', '1', '2', '40', '-3'])
    return this.#chance.once(2) ? [digits, `${digits}.0`] : this.#plainDouble()
  }

  #anyNumber(): Spelling {
    const digits = this.#chance.pick(['0', '1', '3', '-2'])
    return [digits, `${digits}.0`]
  }

  text(depth: number): Spelling {
    const chance = this.#chance
    if (depth > 0 && chance.once(4)) return join(['(', this.text(0), ' + ', this.text(0), ')'])
    return same(chance.pick(['state.s', 'state.t', ...TEXTS]))
  }
}

/** Tokens without any order, for the parsers. */
export function tokenSoup(chance: Chance): string {
  const words = [
    ...[
      'state',
      '.',
      'i',
      'b',
      's',
      '(',
      ')',
      '[',
      ']',
      ',',
      '?',
      ':',
      '!',
      '-',
      '+',
      '*',
      '/',
      '%',
    ],
    ...['<', '<=', '==', '!=', '&&', '||', 'in', 'true', 'null', '1', '2.5', '0x1F', '"a"', "'b'"],
    ...[
      '"\\q"',
      'r"\\q"',
      "'",
      '1.',
      '.5',
      '1e',
      '// x\n',
      'for',
      'as',
      '=',
      '&',
      '"""a\nb"""',
      '\u00e9',
    ],
  ]
  const count = 1 + chance.below(9)
  let text = ''
  for (let index = 0; index < count; index++) {
    text += chance.pick(words) + (chance.once(3) ? '' : ' ')
  }
  return text
}

/** Values as documents have them; about one in eight fields is missing or of another type. */
export function makeValues(chance: Chance): Readonly<Record<string, unknown>> {
  const full: Record<string, unknown> = {
    i: chance.pick([0, 1, 2, 3, -1, 7, 9007199254740991]),
    j: chance.pick([0, 1, -5, 100]),
    d: chance.pick([0, 0.5, 1, 2.25, -3.5, 1e300]),
    e: chance.pick([1, 3, -0.5]),
    b: chance.once(2),
    c: chance.once(2),
    s: chance.pick(['', 'a', 'ab', 'é', '😀x', 'z']),
    t: chance.pick(['a', 'b c', '\ufffd']),
    n: chance.pick([null, 1.5, 2]),
    texts: chance.pick([[], ['a'], ['a', 'b'], ['', 'ab', 'é']]),
    ints: chance.pick([[], [1], [0, 3], [1, 2, 3]]),
    rows: chance.pick([[], [{ name: 'a', size: 1 }], [{ name: 'b', size: 2 }, { size: 3 }]]),
    map: chance.pick<unknown>([{}, { k: 'a' }, { a: 'a', toString: 'b' }]),
    x: chance.pick([null, 1, 'a', true, { y: 'a' }, [1, 2], {}]),
  }
  for (const name of Object.keys(full)) if (chance.once(12)) delete full[name]
  return { state: full }
}

const INT_FIELDS = new Set(['i', 'j'])

/** The same values with ints as CEL takes them: a bigint is an int, a number a double. */
export function asCel(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const state = values['state'] as Readonly<Record<string, unknown>>
  const entries = Object.entries(state).map(([name, value]): [string, unknown] => {
    if (INT_FIELDS.has(name)) return [name, BigInt(value as number)]
    if (name === 'ints') return [name, (value as number[]).map(BigInt)]
    if (name === 'rows') {
      return [
        name,
        (value as { size: number }[]).map((row) => ({ ...row, size: BigInt(row.size) })),
      ]
    }
    return [name, value]
  })
  return { state: Object.fromEntries(entries) }
}
