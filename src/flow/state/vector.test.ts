/** Vectors are lists that are copied in part. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { elementAt, filledVector, VectorDraft, vectorElements } from './vector.ts'

describe('vectors', () => {
  it('are changed as lists are, and what they were made of stays', () => {
    const writes = fc.array(fc.tuple(fc.nat(), fc.nat(9)), { maxLength: 30 })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9000 }), writes, (length, changes) => {
        const first = filledVector(length, { value: -1 })
        const draft = new VectorDraft(first)
        const list = Array.from({ length }, () => -1)
        for (const [at, value] of changes) {
          const own = draft.own(at % length, ({ value: old }) => ({ value: old }))
          own.value = value
          list[at % length] = value
        }
        const next = draft.finish()
        expect(vectorElements(next).map(({ value }) => value)).toEqual(list)
        expect(vectorElements(first).every(({ value }) => value === -1)).toBe(true)
        expect(elementAt(next, length - 1).value).toBe(list[length - 1])
      }),
    )
  })

  it('share the parts that did not change', () => {
    const first = filledVector(6000, 0)
    const draft = new VectorDraft(first)
    draft.set(0, 1)
    const next = draft.finish()
    expect(next.branches[0]?.[0]).not.toBe(first.branches[0]?.[0])
    expect(next.branches[0]?.[1]).toBe(first.branches[0]?.[1])
    expect(next.branches[1]).toBe(first.branches[1])
  })
})
