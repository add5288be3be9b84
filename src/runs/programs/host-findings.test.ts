/** What stops a node names ten paths, and says how many more there are. */
import { expect, it } from 'vitest'
import { controlText } from '../../flow/report/control-text.ts'
import { changedPrograms } from './host-findings.ts'

it('names the first paths, and counts the others', () => {
  const paths = Array.from({ length: 14 }, (_, at) => `agents/${at}.mjs`)
  const found = changedPrograms(paths)
  expect(found.map(({ more }) => more ?? 0)).toEqual([...Array(9).fill(0), 4])
  expect(changedPrograms(paths.slice(0, 10)).some(({ more }) => more !== undefined)).toBe(false)
  const [last] = found.slice(-1).map(({ code, ...values }) => ({ code, values }))
  const said = last === undefined ? null : controlText({ ...last, action: 'block' })
  expect(said).toContain('agents/9.mjs (and 4 more')
})
