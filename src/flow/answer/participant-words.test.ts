/** Whose principal a name in a flow is: a bare name never reaches beyond the namespace of the home. */
import { expect, it } from 'vitest'
import { personText } from './participant-words.ts'

it.each([
  ['ann', 'local', 'human:ann@local'],
  ['ann', 'north-farm', 'human:ann@north-farm'],
  ['human:ann', 'north-farm', 'human:ann@north-farm'],
  ['ann@other', 'local', 'human:ann@other'],
  ['human:ann@other', 'local', 'human:ann@other'],
])('%s in a home of %s is %s', (name, namespace, who) => {
  expect(personText(name, namespace)).toBe(who)
})
