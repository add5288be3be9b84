/** `writ replay`: recorded decisions computed again, by the built program. */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { INPUTS, RULESET } from '../../src/cli/demo/constitution-chapter.ts'
import { alter, copyOf, type Ended, folder, Place } from './rig.ts'

describe('writ replay (L-9)', () => {
  const place = new Place('replay')
  const rules = join(folder, 'replay-rules.json')
  const inputs = join(folder, 'replay-inputs.json')
  let evaluated: Ended
  const evaluate = (...args: string[]) =>
    place.writ(['rules', 'eval', '--rules', rules, '--inputs', inputs, '--record', ...args])
  beforeAll(() => {
    place.init()
    writeFileSync(rules, JSON.stringify(RULESET))
    writeFileSync(inputs, JSON.stringify(INPUTS))
    evaluated = evaluate('--json')
  }, 60_000)

  it('records an evaluation and computes it again', () => {
    const { status, json } = evaluated
    expect([status, json.recorded.stream, json.recorded.seq]).toEqual([0, 'main', 0])
    const [fact] = place.writ(['log', '--json']).json.facts
    expect(fact.record.payload.verdicts).toEqual(json.verdicts)
    expect(fact.record.payload.evaluator).toEqual({ name: 'control-kernel', version: '2' })
    expect(place.writ(['replay', '--json'])).toMatchObject({
      status: 0,
      json: { ok: true, checked: 1, differences: [] },
    })
  })

  it('is red when a recorded verdict was altered, and shows both', () => {
    const altered = copyOf(place, 'replay-altered')
    alter(
      altered,
      `UPDATE facts SET fact = replace(fact, '"verdict":"DENY","verdict_id"', '"verdict":"ALLOW","verdict_id"')`,
    )
    const { status, json } = altered.writ(['replay', '--json'])
    expect([status, json.ok, json.differences.length]).toEqual([1, false, 1])
    const [{ seq, recorded, computed }] = json.differences
    expect([seq, recorded[0].verdict, computed[0].verdict]).toEqual([0, 'ALLOW', 'DENY'])
    expect(altered.writ(['ledger', 'verify']).status).toBe(1)
  })

  it('calls neither equal nor different what another evaluator made, or what is gone', () => {
    const older = copyOf(place, 'replay-older')
    alter(older, `UPDATE facts SET fact = replace(fact, '"version":"2"', '"version":"0"')`)
    const changed = older.writ(['replay', '--json'])
    expect([changed.status, changed.json.checked]).toEqual([0, 0])
    expect(changed.json.not_replayed[0].code).toBe('replay.engine_changed')

    const many = { ...RULESET, rules: [...RULESET.rules] as object[] }
    for (let count = 0; count < 100; count++) {
      many.rules.push({ ...RULESET.rules[0], rule_id: `more-${count}` })
    }
    writeFileSync(rules, JSON.stringify(many))
    expect(evaluate().status).toBe(0)
    expect(place.writ(['replay', '--json']).json).toMatchObject({ ok: true, checked: 2 })
    rmSync(join(place.stateOfHome, 'objects'), { recursive: true })
    const gone = place.writ(['replay', '--json'])
    // No fact says that the payload was dropped.
    expect([gone.status, gone.json.ok, gone.json.checked]).toEqual([1, false, 1])
    expect(gone.json.missing).toHaveLength(1)
    expect(gone.json.not_replayed[0].code).toBe('replay.unreplayable')
  })
})
