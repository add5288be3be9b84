/** What a person is shown of settings that are lists of ways, before they accept them. */
import { expect, it } from 'vitest'
import { bareLaws, LAYERED, lawDifferences, loadLaws } from '../../src/policy/index.ts'

it('shows every field of a way to a person or a device, and which one changed', async () => {
  const laws = async (address: string, devices: string) => {
    const text = `laws: []
settings:
  notify:
    - { name: phone, kind: ntfy, url: '${address}', contents: true }
    - { name: team, kind: slack, url_secret: TEAM_URL }
  dispatch:
    - { name: field, kind: webhook, url: 'https://farm.example/', secret: FIELD, devices: ['${devices}', 'a@b'] }
`
    const reading = await loadLaws(text, LAYERED)
    if (!reading.ok) throw new Error(JSON.stringify(reading.faults))
    return reading.laws
  }
  const first = await laws('https://ntfy.example/one', '*@north')
  const rows = lawDifferences(bareLaws(LAYERED), first).map(
    ({ kind, name, before, after }) => `${kind} ${name}: ${before} | ${after}`,
  )
  expect(rows).toEqual([
    'changed setting dispatch: none | field',
    'changed setting notify: none | phone, team',
    'added setting dispatch.field: null | devices *@north, a@b; kind webhook; name field; secret FIELD; url https://farm.example/',
    'added setting notify.phone: null | contents true; kind ntfy; name phone; url https://ntfy.example/one',
    'added setting notify.team: null | kind slack; name team; url_secret TEAM_URL',
  ])
  // Another address alone is a change, so that it is never accepted without a question.
  const other = lawDifferences(first, await laws('https://ntfy.example/two', '*@*'))
  expect(other.map(({ name }) => name)).toEqual(['setting dispatch.field', 'setting notify.phone'])
})
