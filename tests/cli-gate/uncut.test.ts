/** A person can see everything a run did: the record names 200 paths of a code, a question all of them. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { Place } from './place.ts'

let place: Place

vi.setConfig({ testTimeout: 120_000 })

beforeAll(() => {
  place = new Place('uncut').init()
}, 180_000)

afterAll(() => place?.remove())

it('what a build runs and what is left out of the home is counted, and listed on request', () => {
  const script =
    'mkdir ~/o; for i in $(seq 1 300); do mkdir -p b/$i; echo > b/$i/Makefile; echo > ~/o/f$i; done'
  const { err } = place.writ(['exec', '--', 'sh', '-c', script])
  const id = /writ inbox ([0-9a-f]+) --all/.exec(err)?.[1] ?? ''
  expect(err).toContain(`and 290 more: writ inbox ${id} --all`)
  expect(err).toContain(`and 291 more: writ inbox ${id} --all`)
  const brief = place.writ(['inbox', id]).out
  expect(brief).toContain('Runs when you build or test (300)\n  b/ 300 added\n')
  const lines = place.writ(['inbox', id, '--all']).out.split('\n')
  expect(lines.filter((line) => /^ {2}b\/\d+\/Makefile$/.test(line))).toHaveLength(300)
  expect(lines.filter((line) => /\/o\/f\d+: added$/.test(line))).toHaveLength(300)
})
