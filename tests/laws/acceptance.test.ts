/** Laws are accepted by a person who saw what they change: those of a clone, and changed ones. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  bareLaws,
  DEFAULT_LAWS,
  LAYERED,
  lawDifferences,
  loadLaws,
} from '../../src/policy/index.ts'
import { Place } from '../cli-gate/place.ts'

vi.setConfig({ testTimeout: 120_000 })

const LOOSE = `replace: true
laws:
  - policy_id: STOP
    tier: 0
    policy_expr: 'true'
    priority: 1
    override_mode: merge
    violation_action: block
grants:
  - { grant_id: ALL, create: ['**'], change: ['**'], delete: ['**'] }
settings:
  shown: ['~/.aws']
`
const FILE = '.writ/laws.yaml'
const WAITS = 'the laws of this repository are not accepted yet'

let place: Place
beforeEach(() => {
  place = new Place('acceptance', { runs: 'warm' })
})
afterEach(() => place.remove())

/** Whether the law STOP of the file refuses an act. */
function isInForce(): boolean {
  const { err } = place.writ(['exec', '--yes', '--', 'touch', 'made'])
  return err.includes('law.STOP')
}

describe('a law file that was there before the home', () => {
  beforeEach(() => place.write(FILE, LOOSE))

  it('is not in force without a terminal, and init says so', () => {
    const made = place.writ(['init', '--no-pass'])
    expect([made.status, made.out]).toEqual([0, expect.stringContaining(WAITS)])
    expect(isInForce()).toBe(false)
    expect(place.writ(['init', '--no-pass', '--json']).json.laws_differ).toBe(true)
    expect(place.text(FILE)).toBe(LOOSE)
  })

  it('is shown to a person as changes of the default laws, and waits after a no', () => {
    const seen = place.person(
      ['init', '--no-pass'],
      [
        { expect: 'removed  law ' },
        { expect: 'added  grant ALL' },
        { expect: 'added  shown ~/.aws' },
        { expect: 'Accept these laws? [y/N] ' },
        { send: 'n\n' },
        { expect: WAITS },
      ],
    )
    expect([seen.failed, seen.status]).toEqual([null, 0])
    expect(isInForce()).toBe(false)
  })

  it('is in force after a yes', () => {
    const steps = [{ expect: 'Accept these laws? [y/N] ' }, { send: 'y\n' }]
    expect(place.person(['init', '--no-pass'], steps)).toMatchObject({ failed: null, status: 0 })
    expect(isInForce()).toBe(true)
  })

  it('is accepted at once where it changes nothing', () => {
    place.write(FILE, `# ours\n${DEFAULT_LAWS}`)
    expect(place.writ(['init', '--no-pass', '--json']).json.laws_differ).toBe(undefined)
  })

  it('waits where it cannot be read', () => {
    place.write(FILE, 'laws: 3\n')
    expect(place.writ(['init', '--no-pass', '--json']).json.laws_differ).toBe(true)
    expect(place.writ(['exec', '--yes', '--', 'touch', 'x']).status).toBe(0)
  })
})

describe.each([['laws accept'], ['trust']])('writ %s', (command) => {
  const words = command.split(' ')

  beforeEach(() => {
    place.init()
    place.write(FILE, LOOSE)
  })

  it('shows the change and refuses without a terminal and without --yes', () => {
    const refused = place.writ([...words])
    expect([refused.status, refused.err]).toEqual([1, expect.stringContaining('added  grant ALL')])
    expect(refused.err).toContain('confirm.not_given')
    expect(isInForce()).toBe(false)
    expect(place.writ([...words, '--yes']).status).toBe(0)
    expect(place.writ([...words]).status).toBe(0)
  })

  it('asks at a terminal, and accepts nothing after a no or when the file changes meanwhile', () => {
    const asked = { expect: 'Accept these laws? [y/N] ' }
    const refused = place.person(words, [asked, { send: 'n\n' }])
    expect(refused).toMatchObject({ failed: null, status: 1 })
    expect(refused.output).toContain('not accepted')
    const changed = place.person(words, [
      asked,
      { write: `${place.project}/${FILE}` },
      { send: 'y\n' },
    ])
    expect(changed.output).toContain('laws.changed')
    expect(isInForce()).toBe(false)
  })
})

it('finds no difference between the file of a new home and the default laws', async () => {
  const reading = await loadLaws(DEFAULT_LAWS, LAYERED)
  expect(reading.ok && lawDifferences(bareLaws(LAYERED), reading.laws)).toEqual([])
})

it('names changed settings, laws and grants', async () => {
  const text = `disable: [CREATE]
laws:
  - { policy_id: MINE, tier: 0, policy_expr: 'true', priority: 1, override_mode: merge, violation_action: block }
settings: { question_quota_mb: 7, retention: { undo_days: 3 } }
`
  const reading = await loadLaws(text, LAYERED)
  const found = reading.ok ? lawDifferences(bareLaws(LAYERED), reading.laws) : []
  expect(found.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
    'removed grant CREATE',
    'changed setting question_quota_mb',
    'changed setting retention.undo_days',
    'added law MINE',
  ])
  expect(found[1]).toMatchObject({ before: '4096', after: '7' })
})

describe('a law file that is gone', () => {
  it('is named as gone by exec, check and accept, which says what it does', () => {
    place.write(FILE, LOOSE.replace("policy_expr: 'true'", "policy_expr: 'false'"))
    const yes = [{ expect: 'Accept these laws?' }, { send: 'y\n' }]
    expect(place.person(['init', '--no-pass'], yes).status).toBe(0)
    rmSync(join(place.project, FILE))
    const ran = place.writ(['exec', '--yes', '--', 'touch', 'made'])
    expect(ran.err).toContain('the law file `.writ/laws.yaml` is gone')
    expect(place.writ(['laws', 'check']).err).toContain('the law file is gone')
    const accepted = place.writ(['laws', 'accept'])
    expect(accepted.err).toContain('is gone. Accepting that leaves the default laws alone in force')
    expect(accepted.err).not.toContain('differs')
  })
})
