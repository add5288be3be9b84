/** What is said of a job that waits. */
import { expect, it } from 'vitest'
import { findingOf } from './seen-jobs.ts'

type Job = Parameters<typeof findingOf>[0]

const WORKER = {
  worker: 'w',
  machine: 'm',
  labels: ['workspace:/srv/shop'],
  version: '1',
  since: '',
}
const terms = { nameOf: (machine: string) => machine }

function job(labels: readonly string[], secondsAgo: number): Job {
  const run_at = new Date(Date.now() - secondsAgo * 1_000).toISOString()
  // What the function looks at.
  return { labels, run_at, machine: null, state: 'due', tries: 0, error: null } as unknown as Job
}

it('names a directory that the machines of a workspace may not have', () => {
  const below = ['workspace:/srv/shop/docs']
  expect(findingOf(job(below, 0), [WORKER], terms)).toBeNull()
  expect(findingOf(job(below, 60), [WORKER], terms)).toContain('is /srv/shop/docs a directory')
  expect(findingOf(job(WORKER.labels, 60), [WORKER], terms)).toBeNull()
  expect(findingOf(job(['workspace:/srv/other'], 0), [WORKER], terms)).toContain('no worker has')
})
