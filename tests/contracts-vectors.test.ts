/** Runs spec/vectors/contracts against the contracts room. */
import { describe, expect, it } from 'vitest'
import { envelopeLimits, GRAPH_LIMITS, readJson } from '../src/base/index.ts'
import { answerCheck, answerNormalise, CODES_OF_CONTRACTS } from './vectors/answer.ts'
import { loadVectors } from './vectors/vector.ts'

const vectors = loadVectors('spec/vectors/contracts', 'contracts/1')

describe('contract vectors', () => {
  for (const vector of vectors) {
    it(`${vector.id}: ${vector.note}`, () => {
      const { hints, ...want } = vector.want
      const answer = vector.run === 'normalise' ? answerNormalise(vector) : answerCheck(vector)
      expect(answer.comparable(want)).toEqual(want)
      for (const word of (hints as string[] | undefined) ?? []) expect(answer.hints).toContain(word)
    })
  }
})

describe('coverage of codes', () => {
  it('hits every violation code of every contract', () => {
    const hit = new Set(vectors.flatMap(({ want }) => codesIn(want)))
    expect(CODES_OF_CONTRACTS.filter((code) => !hit.has(code))).toEqual([])
  })
})

function codesIn(want: Readonly<Record<string, unknown>>): readonly string[] {
  return ((want['violations'] ?? []) as { code: string }[]).map(({ code }) => code)
}

describe('the vectors themselves', () => {
  it('are there', () => {
    expect(vectors.length).toBeGreaterThan(200)
    expect(readJson('{}', envelopeLimits(GRAPH_LIMITS)).ok).toBe(true)
  })
})
