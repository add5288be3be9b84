/**
 * A human who approves one question and is killed at a point of the promotion, if one is named. Its one
 * argument is an order; prints the answer, or the fault, as one JSON line.
 */

import {
  openCredential,
  openHome,
  readRegister,
  signApproval,
  stateRoot,
} from '../../src/home/index.ts'
import { ownCredential } from '../../src/ledger/index.ts'
import { createDriver } from '../../src/sandbox/index.ts'
import { openGate } from '../../src/service/index.ts'
import { openLedger } from '../../src/store/index.ts'
import type { ApprovingOrder } from './approving.ts'

const order: ApprovingOrder = JSON.parse(process.argv[2] ?? '{}')
const around = {
  cwd: order.project,
  env: { PATH: process.env['PATH'], XDG_STATE_HOME: order.state },
  userDirectory: order.home,
  userName: 'ann',
}
const home = openHome(around, null)
const ledger = await openLedger({ directory: home.state })
const register = await readRegister({ ledger, state: home.state })
const principal = { kind: 'human', id: order.who, namespace: 'local' } as const
const credential = ownCredential(register.credentials, principal)
const key = await openCredential(home.state, order.passphrase, credential?.key ?? null)
const driver = createDriver({ watcher: new URL(order.watcher) })
const gate = await openGate({
  home,
  ledger,
  caller: { principal, streams: null, proof: 'none' },
  stream: 'main',
  stateRoot: stateRoot(around),
  userDirectory: around.userDirectory,
  environment: around.env,
  ancestors: [],
  hasPasskey: false,
  driver,
  nowMs: Date.now,
  onPoint: (point, moment) => {
    if (point === order.killAt && moment === 'before') process.kill(process.pid, 'SIGKILL')
  },
})
try {
  const question = await gate.question(order.id)
  if (question === null || key === null) throw new Error('no question, or no key')
  // A proof that another question was signed with, where the order says so.
  const signed = { ...question, ...order.signed }
  const proof = signApproval(key, signed)
  const answer = await gate.answer(order.id, { kind: 'yes', assurance: 'passphrase', proof })
  process.stdout.write(`${JSON.stringify({ answer })}\n`)
} catch (error) {
  const { fault } = error as { readonly fault?: unknown }
  process.stdout.write(`${JSON.stringify({ fault: fault ?? String(error) })}\n`)
} finally {
  await driver.close()
  await ledger.close()
}
