/** A machine that joined and that no human has let in: it reads, and says so where it has to record. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { Fleet, FleetMachine } from './fleet-rig.ts'

vi.setConfig({ testTimeout: 120_000 })

let fleet: Fleet
let first: FleetMachine
let second: FleetMachine
let key: string

beforeAll(async () => {
  fleet = await Fleet.start()
  first = fleet.first('alpha')
  first.spawn(['exec', '--', 'touch', 'made'])
  second = new FleetMachine(fleet.folder, 'beta')
  key = second.must(['machine', 'join', fleet.url]).key
}, 180_000)

afterAll(() => fleet.stop())

it.each([
  ['log'],
  ['inbox'],
  ['du'],
  ['session', 'list'],
  ['flow', 'list'],
  ['task', 'list'],
  ['machine', 'list'],
  ['ledger', 'checkpoint', '--stream', 'host'],
])('reads: %s %s', (...words) => {
  const ended = second.spawn(words)
  expect([words, ended.stderr.replace(/^.*Warning.*$/gm, ''), ended.status]).toEqual([
    words,
    expect.not.stringContaining('machine.unknown'),
    expect.toSatisfy((status) => [0, 3].includes(status as number)),
  ])
})

it('signs no checkpoint of the home, and names the command with its key', () => {
  const { status, json } = second.writ(['ledger', 'checkpoint'])
  expect([status, json.error.code]).toEqual([1, 'machine.unknown'])
  expect(json.error.hint).toContain(`writ machine admit NAME ${key}`)
})

it('is looked at by doctor, which says that it is not let in', () => {
  const { status, json, err } = second.writ(['doctor'])
  expect([status, err]).toEqual([first.writ(['doctor']).status, ''])
  expect(json.machine).toMatchObject({ state: 'not_admitted', key })
  const { stdout } = second.spawn(['doctor'])
  expect(stdout).toContain(`writ machine admit NAME ${key}`)
  expect(first.must(['doctor']).machine).toMatchObject({ state: 'admitted', machines: 1 })
  expect(first.spawn(['doctor']).stdout).toContain('the facts lie on the server')
})

it.each([
  ['serve', '--listen', '127.0.0.1:0'],
  ['worker', '--labels', 'x'],
])('begins no %s', (...words) => {
  expect(first.writ(['worker', 'prepare', '--store-owner', 'keeper']).status).toBe(0)
  const { status, stderr, stdout } = second.spawn(words, '', 20_000)
  expect([status, stdout]).toEqual([1, ''])
  expect(stderr).toContain('machine.unknown')
  expect(stderr).toContain(`writ machine admit NAME ${key}`)
})
