/** What uses up no try of a job: a halt, and a worker whose machine was removed. */
import { realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { Endpoint } from '../flow-run/endpoints.ts'
import { Fleet, FleetMachine } from './fleet-rig.ts'
import { WorkerProcess, workEndpoint, writeFlow } from './worker-rig.ts'

const TIMEOUT = { timeout: 180_000 }
let fleet: Fleet
let first: FleetMachine
let second: FleetMachine
let endpoint: Endpoint
let url = ''
const workers: WorkerProcess[] = []

beforeAll(async () => {
  fleet = await Fleet.start()
  first = fleet.first('alpha')
  first.must(['worker', 'prepare', '--store-owner', 'keeper'])
  second = fleet.joined(first, 'beta')
  endpoint = workEndpoint(100)
  url = await endpoint.open()
}, 180_000)

afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.kill('SIGTERM')
})

afterAll(async () => {
  await endpoint.close()
  await fleet.stop()
})

async function work(machine: FleetMachine): Promise<WorkerProcess> {
  const worker = new WorkerProcess(machine)
  workers.push(worker)
  await worker.until((news) => news.kind === 'ready')
  return worker
}

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into by the tests
type Loose = any

/** Leaves a proposal of a command to a worker; returns the id of the action. */
function propose(name: string, script: string): string {
  const document: Loose = JSON.parse(
    first.spawn(['propose', '--example', 'COMMAND_EXECUTION']).stdout,
  )
  const path = join(realpathSync(first.project), `${name}.txt`)
  document.descriptor.effects.filesystem = { create: [path], modify: [path], delete: [] }
  document.operation.argv = ['sh', '-c', script]
  first.must(['propose', '-', '--queue'], JSON.stringify(document))
  return document.descriptor.action_id
}

function queued(name: string, node = {}): string {
  return first.must(['flow', 'run', writeFlow(first, name, url, { node }), '--queue']).run_id
}

function seenJobs(): readonly Loose[] {
  return first.writ(['worker', 'list']).json.jobs
}

it('not by a halt: runs, proposals and answers wait until a human resumes', TIMEOUT, async () => {
  const before = await work(first)
  const waiting = queued('waiting', { signal: 'go' })
  await before.until((news) => news.kind === 'done' && news.run === waiting)
  await before.kill('SIGTERM')
  // Its fact stops the worker of another machine.
  second.must(['halt'])
  const run = queued('halted')
  const action = propose('halted', 'echo done > halted.txt')
  second.must(['flow', 'signal', waiting, 'go'])
  const worker = await work(first)
  for (const round of [1, 2])
    for (const [key, id] of Object.entries({ run, action }))
      while (
        worker.news.filter((one) => one.kind === 'passed_on' && one[key] === id).length < round
      )
        await pause(100)
  expect(new Set(worker.news.flatMap(({ code }) => code ?? []))).toEqual(new Set(['halted']))
  const { status, json } = first.writ(['worker', 'list'])
  expect([status, json.halted]).toEqual([3, true])
  const asked = json.jobs.filter((job: Loose) => job.state !== 'taken' && job.task !== 'schedules')
  for (const job of asked) expect(job).toMatchObject({ error: null, tries: 0 })
  expect(asked.map((job: Loose) => job.finding)).toContain(
    'everything is halted: it goes on after `writ resume`',
  )
  expect(first.spawn(['worker', 'list']).stdout).toContain('workers begin nothing until')
  second.must(['resume'])
  const ended = (key: string, id: string) =>
    worker.until((news) => news.kind === 'done' && news[key] === id)
  expect((await ended('action', action)).status).toBe('promoted')
  expect((await ended('run', run)).status).toBe('DONE')
  expect((await ended('run', waiting)).status).toBe('DONE')
  expect(first.must(['worker', 'list']).halted).toBe(false)
})

it('not by a halt that stops the rehearsal of a proposal', TIMEOUT, async () => {
  const worker = await work(first)
  const action = propose('stopped', 'sleep 4; echo done > stopped.txt')
  await worker.until((news) => news.kind === 'taken' && news.action === action)
  while (first.writ(['show', action]).status !== 0) await pause(100)
  first.must(['halt'])
  const passed = await worker.until((news) => news.kind === 'passed_on' && news.action === action)
  expect(passed.code).toBe('halted')
  first.must(['resume'])
  const done = await worker.until((news) => news.kind === 'done' && news.action === action)
  expect(done.status).toBe('promoted')
  expect(seenJobs().filter(({ task }) => task === 'propose')).toEqual([])
})

it('not by a worker whose machine is removed: it ends', TIMEOUT, async () => {
  // That of a run on the other machine with this directory.
  rmSync(join(first.project, 'orchestration_log.md'), { force: true })
  const third = fleet.joined(first, 'gamma', first.project)
  const worker = await work(third)
  first.must(['machine', 'remove', 'gamma'])
  const run = queued('spared')
  const action = propose('spared', 'echo done > spared.txt')
  const status = await new Promise((resolve) => worker.child.once('exit', resolve))
  expect(status).toBe(1)
  expect(worker.err).toContain('this machine (gamma) was removed from the home')
  expect(worker.news.map(({ kind }) => kind)).not.toContain('failed')
  const { workers: seen, jobs } = first.writ(['worker', 'list']).json
  expect(seen).toEqual([])
  for (const job of jobs) expect(job).toMatchObject({ tries: 0, error: null })
  const again = third.spawn(['worker'])
  expect([again.status, again.stderr]).toEqual([1, expect.stringContaining('was removed')])
  const heir = await work(first)
  const ended = (key: string, id: string) =>
    heir.until((news) => news.kind === 'done' && news[key] === id)
  expect((await ended('run', run)).status).toBe('DONE')
  expect((await ended('action', action)).status).toBe('promoted')
})

it('not by a machine that was never let in: its worker does not begin', () => {
  const stranger = new FleetMachine(fleet.folder, 'delta')
  stranger.must(['machine', 'join', fleet.url])
  const refused = stranger.spawn(['worker'])
  expect(refused.status).toBe(1)
  expect(refused.stderr).toContain('has not been let into the home yet')
  expect(refused.stderr).toContain('writ machine admit NAME writ/')
})
