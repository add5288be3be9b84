/** Cosignatures of witnesses reach every machine of a home (X-1, H-9). */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { checkTlogProof } from '../verifier/tlog.mjs'
import { Fleet, type FleetMachine } from './fleet-rig.ts'

let fleet: Fleet
let first: FleetMachine
let second: FleetMachine
let witness: ChildProcess

beforeAll(async () => {
  fleet = await Fleet.start()
  first = fleet.first('alpha')
  second = fleet.joined(first, 'beta')
}, 180_000)

afterAll(async () => {
  witness.kill('SIGTERM')
  await fleet.stop()
})

function anchorsIn({ folder }: FleetMachine): boolean {
  const root = join(folder, 'state', 'writ')
  const [id = ''] = readdirSync(root).filter((name) => name !== 'homes.json')
  return existsSync(join(root, id, 'anchors.json'))
}

it('also the one that did not ask for them: it proves with them', async () => {
  const dir = join(fleet.folder, 'witness')
  const key = first.spawn(['witness', 'init', 'one.example/w', '--dir', dir]).stdout.trim()
  const keys: string[] = first.must(['ledger', 'key']).keys
  // Of the machine that let the other in, which signed the newest checkpoints.
  const own: string = first.must(['machine', 'key']).key
  first.spawn(['witness', 'add-log', own, '--streams', '--dir', dir])
  const name = `${own.slice(0, own.indexOf('+'))}/host+`
  const bytes = own.slice(own.lastIndexOf('+'))
  const hostKey = keys.find((one) => one.startsWith(name) && one.endsWith(bytes)) ?? ''
  const words = ['witness', 'serve', '--json', '--dir', dir, '--listen', '127.0.0.1:0']
  witness = spawn(process.execPath, [join(process.cwd(), 'bin', 'writ.cjs'), ...words], {
    env: first.env,
  })
  const line = await new Promise((resolve) => witness.stdout?.once('data', resolve))
  first.must(['witness', 'pin', JSON.parse(String(line)).url, key])
  first.must(['ledger', 'anchor'])
  expect([anchorsIn(first), anchorsIn(second)]).toEqual([true, false])
  const [stored] = first
    .must(['log', '--stream', 'host'])
    .facts.filter((fact: { seq: number }) => fact.seq === 1)
  for (const machine of [first, second]) {
    const file = join(machine.folder, 'fact.tlog-proof')
    const proven = machine.must(['ledger', 'prove', '1', '--stream', 'host', '--out', file])
    expect(proven.cosigned).toBe(true)
    expect(checkTlogProof(readFileSync(file, 'utf8'), stored, hostKey, [key]).index).toBe(1)
    const directory = join(machine.folder, 'proofs')
    const all = machine.must(['ledger', 'export', directory, '--proof', '--stream', 'host'])
    expect(all.cosigned).toBe(all.proofs - 1)
  }
  // A witness that is not pinned any more counts for neither.
  second.must(['witness', 'unpin', 'one.example/w'])
  const file = join(second.folder, 'later.tlog-proof')
  const later = second.must(['ledger', 'prove', '1', '--stream', 'host', '--out', file])
  expect(later.cosigned).toBe(false)
}, 120_000)
