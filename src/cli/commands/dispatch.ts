/** `writ dispatch …`: brings tasks to devices by the ways that the laws' settings name (D-1, D-2). */
import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { faultCode } from '../../base/index.ts'
import type { DispatchWay } from '../../contracts/index.ts'
import {
  DeviceKeys,
  DispatchLoop,
  HomeSigner,
  type LoopNews,
  tryBroker,
  type WayNews,
  WaySet,
} from '../../dispatch/index.ts'
import { type KnownHome, readSecret, stateRoot } from '../../home/index.ts'
import { type CommandCall, EXIT, type Exit } from '../call/command.ts'
import { refuseOthers, type Session, withHome } from '../call/home.ts'
import { surroundings } from '../call/terminal.ts'
import { endWithInput, interruptible } from '../flow/interruptible.ts'
import { withGatesOf } from '../gate/open.ts'
import { plain } from '../history/text.ts'

/** How often the settings are read again. */
const SETTINGS_MS = 10_000
/** The ledger may be away for a while. */
const REST_MS = 5_000

/** `writ dispatch run`: looks again and again, in the foreground, or once. */
export async function run(call: CommandCall): Promise<Exit> {
  const isOnce = call.options.isOn('once')
  if (call.options.isOn('attached')) endWithInput()
  const tell = tellTo(call)
  try {
    await withHome(call, async (session) => {
      refuseOthers(session.caller, 'dispatching tasks')
      await interruptible(
        (abort) => dispatch(call, session, tell, { isOnce, abort }),
        'writ dispatch run',
      )
    })
  } catch (error) {
    // A pause that is aborted throws an error of this name.
    const isEnd = (error as Error).name === 'AbortError' || faultCode(error) === 'flow.interrupted'
    if (!isEnd) throw error
  }
  return EXIT.yes
}

async function dispatch(
  call: CommandCall,
  session: Session,
  tell: (news: LoopNews | WayNews) => void,
  { isOnce, abort }: { readonly isOnce: boolean; readonly abort: AbortSignal },
): Promise<void> {
  const { ledger, home, caller } = session
  const host = { ledger, state: home.state, nowMs: Date.now }
  const signer = new HomeSigner(host)
  const loop = new DispatchLoop({ host, principal: caller.principal, signer, tell })
  const uplink = { host, keys: new DeviceKeys(ledger), streamOf: loop.streamOf }
  const root = stateRoot(surroundings())
  const secretOf = (name: string): string | null => readSecret(root, name)
  // A home that is opened for writing is a known one.
  const { id } = home as KnownHome
  // A name of its own: a broker ends the connection of the one that has the same.
  const clientId = `writ-dispatch-${id}-${randomBytes(4).toString('hex')}`
  const ways = new WaySet({ uplink, signer, secretOf, clientId, tell })
  let settings: readonly DispatchWay[] = []
  let readMs = 0
  try {
    while (!abort.aborted) {
      let restMs = REST_MS
      try {
        if (Date.now() >= readMs + SETTINGS_MS) {
          settings = await waysOf(call, session)
          readMs = Date.now()
        }
        const open = await ways.follow(settings)
        restMs = await loop.look(settings, open)
      } catch (error) {
        if (isOnce || !(faultCode(error) ?? '').startsWith('ledger.')) throw error
      }
      if (isOnce) return
      await pause(restMs, null, { signal: abort })
    }
  } finally {
    await ways.close()
  }
}

/** Laws that a human has not accepted have no ways: nothing is sent to where an actor wrote. */
function waysOf(call: CommandCall, session: Session): Promise<readonly DispatchWay[]> {
  return withGatesOf(call, session, async ([own]) => own?.gate.dispatch ?? [])
}

function tellTo({ terminal, options }: CommandCall): (news: LoopNews | WayNews) => void {
  const isJson = options.isOn('jsonl') || options.isOn('json')
  let line: Promise<void> = Promise.resolve()
  let isHalted = false
  return (news) => {
    // Halted is said once, not at every look.
    if (news.event === 'halted' && isHalted) return
    isHalted = news.event === 'halted'
    const { event, ...rest } = news
    const words = [new Date().toISOString(), event, ...Object.values(rest)]
    const text = isJson ? JSON.stringify(news) : plain(words.join('  '))
    line = line.then(() => terminal.out(`${text}\n`))
  }
}

/** `writ dispatch check`: tries each broker as the dispatcher would use it. */
export async function check(call: CommandCall): Promise<Exit> {
  const { terminal, options } = call
  return withHome(call, async (session) => {
    refuseOthers(session.caller, 'trying the brokers')
    const root = stateRoot(surroundings())
    const ways = (await waysOf(call, session)).filter(({ kind }) => kind === 'mqtt')
    const brokers = []
    for (const way of ways) {
      brokers.push({
        way: way.name,
        faults: await tryBroker(way, (name) => readSecret(root, name)),
      })
    }
    const isFine = brokers.every(({ faults }) => faults.length === 0)
    const lines = brokers.flatMap(({ way, faults }) =>
      faults.length === 0
        ? [
            `${terminal.paint.good('works')}  ${way}: encrypted, with a password, devices kept apart`,
          ]
        : faults.map((fault) => `${terminal.paint.bad('broken')}  ${way}: ${fault}`),
    )
    const text = lines.length === 0 ? ['the settings name no broker'] : lines
    await terminal.out(
      options.isOn('json') ? `${JSON.stringify({ brokers })}\n` : `${text.map(plain).join('\n')}\n`,
    )
    return isFine ? EXIT.yes : EXIT.no
  })
}
