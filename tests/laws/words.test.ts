/** What a law says for people, wherever its decision is shown; and what `writ laws check` lists. */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Json, Place } from '../cli-gate/place.ts'

vi.setConfig({ testTimeout: 120_000 })

const ASKS = 'Migrations are read by two eyes.'
const FORBIDS = 'The lock file is made by the build machine.'

const LAWS = `laws:
  - policy_id: ASK_DB
    tier: 2
    text: ${ASKS}
    policy_expr: touches('db')
    priority: 85
    conflicts_with: [ASK_HIGH]
    override_mode: hard_override
    violation_action: confirm
  - policy_id: NO_LOCK
    tier: 1
    text: ${FORBIDS}
    policy_expr: touches('lock')
    priority: 50
    override_mode: merge
    violation_action: block
disable: [ASK_ENV_FILES]
`

let place: Place
let question: Json
let refused: Json
beforeAll(() => {
  place = new Place('words', { runs: 'warm' }).init()
  writeFileSync(join(place.project, '.writ', 'laws.yaml'), LAWS)
  const { status, err } = place.writ(['laws', 'accept', '--yes'])
  expect(status, err).toBe(0)
  const report = join(place.folder, 'question.json')
  expect(place.exec(['--report', report], 'echo 1 > db').status).toBe(75)
  question = JSON.parse(execFileSync('cat', [report], { encoding: 'utf8' }))
  const other = join(place.folder, 'refused.json')
  expect(place.exec(['--write', '.', '--report', other], 'echo 1 > lock').status).toBe(125)
  refused = JSON.parse(execFileSync('cat', [other], { encoding: 'utf8' }))
}, 180_000)
afterAll(() => place?.remove())

describe('the text of a law', () => {
  it('is in the answer of a question and of a refusal', () => {
    expect(question.laws).toEqual([{ policy_id: 'ASK_DB', text: ASKS }])
    expect(refused.laws).toEqual([{ policy_id: 'NO_LOCK', text: FORBIDS }])
    expect(place.exec([], 'echo 2 > db').err).toContain(`${ASKS} (law.ASK_DB)`)
    const { err } = place.exec(['--write', '.'], 'echo 2 > lock')
    expect(err).toContain(`${FORBIDS} (law.NO_LOCK)`)
    expect(err).toMatch(/what a person can do: writ laws explain \S+\nwrit: law\.NO_LOCK\n$/)
  })

  it('is at the prompt, in the inbox and before an approval', () => {
    const { output } = place.execAsPerson([], 'echo 3 > db', [
      { expect: `${ASKS} (law.ASK_DB)` },
      { expect: 'promote them?' },
      { send: 'n\n' },
    ])
    expect(output).toContain('You are asked because')
    const { out } = place.writ(['inbox'])
    expect(out).toContain(`${ASKS} (law.ASK_DB)`)
    const [first] = place.pending()
    expect(first.reasons).toContainEqual({ code: 'law.ASK_DB', words: ASKS })
    expect(place.writ(['inbox', first.id]).out).toContain(ASKS)
  })

  it('is in what `show`, `laws explain` and `laws test` tell, also as JSON', () => {
    const id = refused.action_id
    expect(place.writ(['show', id]).out).toContain(`${FORBIDS} (law.NO_LOCK)`)
    expect(place.writ(['show', id, '--json']).json.laws).toEqual(refused.laws)
    expect(place.writ(['laws', 'explain', id]).out).toContain(FORBIDS)
    const [law] = place.writ(['laws', 'explain', id, '--json']).json.laws
    expect(law).toMatchObject({ policy_id: 'NO_LOCK', text: FORBIDS })
    const rows = place.writ(['laws', 'test']).out
    expect(rows).toContain(FORBIDS)
    expect(rows.split('\n').filter((row) => row.length > 80)).toEqual([])
    const { laws } = place.writ(['laws', 'test', '--json']).json
    expect(laws).toContainEqual({ policy_id: 'NO_LOCK', broken: 2, text: FORBIDS })
  })

  it('of a default law comes with the values that broke it', () => {
    for (let index = 0; index < 22; index++) place.write(`d${index}`)
    expect(place.exec([], 'rm d*').status).toBe(75)
    const { out } = place.writ(['inbox'])
    expect(out).toMatch(/Here its risk is HIGH: 22 deletions\. \(law\.ASK_HIGH\)/)
  })
})

describe('writ laws check', () => {
  it('tells the laws of the file from the default laws', () => {
    const { out, status } = place.writ(['laws', 'check'])
    expect(status).toBe(0)
    const [own = '', rest = ''] = out.split('default laws that this file leaves in force')
    expect(own).toMatch(
      /of this file\n +ASK_DB .*\n +Migrations are read by two eyes\.\n +NO_LOCK /,
    )
    expect(rest).toContain('NO_CRITICAL')
    expect(rest).toContain('turned off here: ASK_ENV_FILES')
    const { json } = place.writ(['laws', 'check', '--json'])
    const origins = Object.fromEntries(
      json.laws.map(({ policy_id, origin }: Json) => [policy_id, origin]),
    )
    expect(origins).toMatchObject({ ASK_DB: 'file', NO_LOCK: 'file', ASK_HIGH: 'default' })
    expect(json.disabled).toEqual(['ASK_ENV_FILES'])
  })

  it('and `writ check` let a law be in conflict with a default law', () => {
    const file = place.write('laws.yaml', LAWS)
    const { status, out } = place.writ(['check', '--as', 'law_file_v1', file])
    expect(status, out).toBe(0)
    const whole = place.write('whole.yaml', `replace: true\n${LAWS.replace(/disable.*\n/, '')}`)
    for (const words of [
      ['laws', 'check'],
      ['check', '--as', 'law_file_v1'],
    ]) {
      const answer = place.writ([...words, whole])
      expect(answer.status).toBe(1)
      expect(answer.out).toContain('there is no law `ASK_HIGH`')
    }
  })

  it('says where a text is no YAML', () => {
    const file = place.write('broken.yaml', 'laws:\n  - policy_id: A\n   tier: 1\n')
    const words = 'this is not valid YAML, line 3 column 1: sequence item without - indicator'
    expect(place.writ(['laws', 'check', file]).out).toContain(words)
    expect(place.writ(['check', '--as', 'law_file_v1', file]).out).toContain(words)
    const { err } = place.writ(['laws', 'test', file])
    expect(err).toContain(`broken.yaml\`: ${words}`)
  })
})
