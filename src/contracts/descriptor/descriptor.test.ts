/** The descriptor contract: what vectors cannot show, above all that hostile input is ordinary. */
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { validate } from '../kernel/validate.ts'
import { actionDescriptor } from './descriptor.ts'

const { bases } = JSON.parse(readFileSync('spec/vectors/contracts/descriptor.json', 'utf8'))

/** The example of the specification with some of its values replaced. */
function descriptor(changes: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return { ...structuredClone(bases.command), ...changes }
}

function scope(paths: readonly string[], recursive: boolean): unknown {
  return {
    filesystem: { paths, recursive },
    network: { required: false },
    ui: { required: false },
  }
}

function effects(create: readonly string[]): unknown {
  const filesystem = { create, modify: [], delete: [] }
  return { filesystem, network: false, system_state_change: false }
}

function codes(document: unknown): readonly string[] {
  return validate(actionDescriptor, document).violations.map(({ code, path }) => `${code} ${path}`)
}

describe('the descriptor', () => {
  it('misses every field it is robbed of, at that place, with the code of its block', () => {
    const leaves = (value: unknown, path: readonly string[]): string[][] =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? [
            ...(path.length > 0 ? [[...path]] : []),
            ...Object.entries(value).flatMap(([key, inner]) => leaves(inner, [...path, key])),
          ]
        : [[...path]]
    const all = leaves(bases.command, [])
    expect(all).toHaveLength(48)
    for (const path of all) {
      const document = descriptor()
      const parent = path
        .slice(0, -1)
        .reduce<Record<string, unknown>>(
          (object, key) => object[key] as Record<string, unknown>,
          document,
        )
      delete parent[path[path.length - 1] ?? '']
      const block = { scope: 'scope_implicit', effects: 'effects_omitted', resources: 'resources' }
      const code = block[path[0] as keyof typeof block] ?? 'required'
      expect(codes(document)).toEqual([`descriptor.${code} /${path.join('/')}`])
    }
  })

  it('never judges an effect outside that the scope names literally or holds below it', () => {
    const name = fc.constantFrom('a', 'b', '.c', 'd e')
    const path = fc
      .array(name, { minLength: 2, maxLength: 4 })
      .map((names) => `/${names.join('/')}`)
    fc.assert(
      fc.property(path, path, fc.boolean(), (root, tail, recursive) => {
        const inside = recursive ? `${root}${tail}` : `${root}/x`
        const document = descriptor({
          scope: scope([root], recursive),
          effects: effects([root, inside]),
          preconditions: { paths_exist: [root], network_available: false, user_idle: false },
        })
        expect(codes(document)).toEqual([])
      }),
    )
  })

  it('shows the offending value and the nearest legal thing', () => {
    const { violations } = validate(actionDescriptor, descriptor({ risk_level: 'HGIH' }))
    expect(violations).toEqual([
      {
        code: 'descriptor.risk_level',
        path: '/risk_level',
        message: 'expected one of `LOW`, `MEDIUM`, `HIGH`, `CRITICAL`, found `"HGIH"`',
        hint: 'did you mean `HIGH`?',
      },
    ])
  })
})

describe('hostile descriptors', () => {
  it('end soon with many wildcards on both sides', () => {
    const roots = Array.from({ length: 15_000 }, (_, index) => `/d/*${index}/**/x`)
    const globs = Array.from({ length: 15_000 }, (_, index) => `/d/a*/**/${index}/*y`)
    const document = descriptor({ scope: scope(roots, true), effects: effects(globs) })
    expect(codes(document).length).toBeGreaterThan(15_000)
  })

  it('end soon with long paths of many segments', () => {
    const roots = Array.from({ length: 1_500 }, () => `/**${'/a'.repeat(62)}`)
    const globs = Array.from({ length: 1_500 }, (_, index) =>
      index % 100 === 0 ? '/a'.repeat(2_000) : `/**${'/a/**'.repeat(31)}`,
    )
    const document = descriptor({ scope: scope(roots, true), effects: effects(globs) })
    expect(validate(actionDescriptor, document).valid).toBe(false)
  })

  it('end soon with an intent of megabytes', () => {
    for (const letter of [' ', 'x', '\n', '😀']) {
      const document = descriptor({ intent_summary: letter.repeat(1_500_000) })
      expect(codes(document)).toEqual(['descriptor.intent /intent_summary'])
    }
  })

  it.each([true, false])('are judged right though they are many (recursive: %s)', (recursive) => {
    const paths = Array.from({ length: 15_000 }, (_, index) => `/home/ann/shop/f${index}`)
    const document = descriptor({
      scope: scope(paths, recursive),
      effects: effects(paths.map((path) => `${path}/x`)),
      preconditions: { paths_exist: paths, network_available: false, user_idle: false },
    })
    expect(codes(document)).toEqual([])
  })
})
