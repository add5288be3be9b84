/**
 * Laws from a kept document equal the laws of the text; a document that breaks the contract has
 * none.
 */
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { DEFAULT_LAWS, LAYERED, type LawSet, lawsOfDocument, loadLaws } from './index.ts'

/** Everything about laws but the functions in them. */
function told({ laws, ephemeral, settings }: LawSet) {
  const words = laws.map(({ expression, ...law }) => ({ ...law, source: expression.source }))
  return { laws: words, ephemeral, settings }
}

const LAW = {
  policy_id: 'A',
  tier: 1,
  policy_expr: 'true',
  priority: 1,
  override_mode: 'merge',
  violation_action: 'block',
}

describe('a kept document', () => {
  it('gives the laws of the text', async () => {
    const reading = await loadLaws(DEFAULT_LAWS)
    const kept = lawsOfDocument(parse(DEFAULT_LAWS))
    expect(reading.ok && kept !== null).toBe(true)
    if (reading.ok && kept !== null) expect(told(kept)).toEqual(told(reading.laws))
  })

  it.each([
    ['of another shape', { laws: 1 }],
    ['with a law that cannot be read', { laws: [{ ...LAW, policy_expr: 'nobody' }] }],
    ['with the name of a built-in law', { laws: [{ ...LAW, policy_id: 'WRIT_ITSELF' }] }],
    ['with two laws of one name', { laws: [LAW, LAW] }],
    ['that is none', null],
  ])('%s has no laws', (_, document) => {
    expect(lawsOfDocument(document)).toBe(null)
  })
})

describe('a law file', () => {
  it('warns when it turns every default law off and has none', async () => {
    const codes = async (text: string) => {
      const reading = await loadLaws(text, LAYERED)
      return reading.ok ? reading.warnings.map(({ code, line }) => [code, line]) : null
    }
    expect(await codes('laws: []\nreplace: true\n')).toEqual([['laws.none', 2]])
    expect(await codes('laws: []\n')).toEqual([])
    expect(await codes(JSON.stringify({ replace: true, laws: [LAW] }))).toEqual([])
  })
})

describe('settings', () => {
  it('have defaults, one by one', async () => {
    const text = 'laws: []\nsettings: { ceilings: { max_cpu_ms: 5 }, plain_yes: false }'
    const reading = await loadLaws(text)
    if (!reading.ok) throw new Error('refused')
    const { settings } = reading.laws
    expect(settings.plainYes).toBe(false)
    expect(settings.confirmationMinutes).toBe(15)
    expect(settings.ceilings).toMatchObject({ max_cpu_ms: 5, max_memory_mb: 8192 })
    expect(settings.readOnlyHosts).toContain('registry.npmjs.org')
  })

  it('may empty a list', async () => {
    const reading = await loadLaws('{"laws": [], "settings": {"read_only_hosts": []}}')
    expect(reading.ok && reading.laws.settings.readOnlyHosts).toEqual([])
  })
})
