/** The proposal contract: its parts keep their codes, composites are held, intents are digests. */
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { digestDocument } from '../../base/index.ts'
import { validate } from '../kernel/validate.ts'
import { actionDescriptor } from './descriptor.ts'
import { intentDigest, intentOf, type Proposal, proposalContract } from './proposal.ts'

const { bases } = JSON.parse(readFileSync('spec/vectors/contracts/proposal.json', 'utf8'))

function composite(): Proposal {
  return structuredClone(bases.composite)
}

function codes(document: unknown): readonly string[] {
  return validate(proposalContract, document).violations.map(({ code, path }) => `${code} ${path}`)
}

describe('the proposal', () => {
  it('tells of a descriptor what the descriptor contract tells', () => {
    const { descriptor, operation } = structuredClone(bases.simple)
    const junk = fc.constantFrom(null, 7, '', 'x', true, [], ['/a'], { a: 1 })
    const key = fc.constantFrom(...Object.keys(descriptor), 'extra')
    fc.assert(
      fc.property(fc.dictionary(key, junk, { maxKeys: 3 }), (changes) => {
        const changed = { ...descriptor, ...changes, scope: descriptor.scope }
        const own = validate(actionDescriptor, changed).violations
        const within = validate(proposalContract, { descriptor: changed, operation }).violations
        const under = within.filter(({ path }) => path.startsWith('/descriptor'))
        expect(under).toEqual(own.map((one) => ({ ...one, path: `/descriptor${one.path}` })))
      }),
    )
  })

  it('lets a child have all that its parent has, and no more than that', () => {
    const document = composite()
    const [child] = document.children ?? []
    const whole = {
      ...child,
      descriptor: {
        ...document.descriptor,
        action_id: child?.descriptor.action_id,
        action_type: child?.descriptor.action_type,
      },
    }
    expect(codes({ ...document, children: [whole] })).toEqual([])
    const twice = {
      ...whole,
      descriptor: { ...whole.descriptor, action_id: document.children?.[1]?.descriptor.action_id },
    }
    expect(codes({ ...document, children: [whole, twice] })).toEqual(
      ['max_cpu_ms', 'max_disk_mb', 'max_duration_ms', 'max_memory_mb'].map(
        (cap) => `descriptor.composite_child /children/1/descriptor/resources/${cap}`,
      ),
    )
  })

  it('is judged soon, however hostile', () => {
    const document = composite()
    const [child] = document.children ?? []
    const globs = Array.from({ length: 8 }, () => `/home/ann/shop${'/**/a'.repeat(29)}`)
    const filesystem = { create: globs, modify: [], delete: [] }
    const children = Array.from({ length: 300 }, () => ({
      ...child,
      descriptor: { ...child?.descriptor, effects: { ...child?.descriptor.effects, filesystem } },
    }))
    const hostile = {
      descriptor: {
        ...document.descriptor,
        effects: {
          ...document.descriptor.effects,
          filesystem: { ...filesystem, create: globs.map((text) => `${text}/c`) },
        },
      },
      children,
    }
    expect(codes(hostile).length).toBeGreaterThan(300)
  })

  it('may be nested as deep as a document, and is then refused', () => {
    let document: unknown = bases.simple
    for (let level = 0; level < 28; level++) {
      document = { descriptor: bases.composite.descriptor, children: [document] }
    }
    expect(codes(document)).toContain(
      `descriptor.composite_depth ${'/children/0'.repeat(8)}/children`,
    )
    for (let level = 0; level < 28; level++) {
      document = { descriptor: bases.composite.descriptor, children: [document] }
    }
    expect(codes(document)[0]).toMatch(/^document\.too_deep/)
  })
})

describe('the intent', () => {
  it('is what is wanted, no matter what it is called and whenever', () => {
    const { descriptor, operation } = bases.simple as Proposal
    expect(intentOf(bases.simple)).toEqual({
      action_type: 'COMMAND_EXECUTION',
      scope: descriptor.scope,
      effects: descriptor.effects,
      operation,
    })
    const again = structuredClone(bases.simple)
    again.descriptor.action_id = '00000000-0000-4000-8000-000000000001'
    again.descriptor.intent_summary = 'Something else.'
    again.descriptor.risk_level = 'LOW'
    expect(intentDigest(again)).toBe(intentDigest(bases.simple))
    expect(intentDigest(again)).toBe(digestDocument(intentOf(again)))
    again.operation.cwd = '/home/ann/shop/tmp/x'
    expect(intentDigest(again)).not.toBe(intentDigest(bases.simple))
  })

  it('of a composite holds those of its children in order', () => {
    const document = composite()
    const intent = intentOf(document)
    expect(intent['children']).toEqual(document.children?.map(intentOf))
    const turned = { ...document, children: [...(document.children ?? [])].reverse() }
    expect(intentDigest(turned)).not.toBe(intentDigest(document))
  })
})
