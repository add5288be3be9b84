/**
 * Opens the gate for a command: opens the home, finds out who calls, and closes the gate again. A gate
 * is over one stream; a command that lists what waits or what was done opens one for each stream that
 * the caller may know of.
 */
import { invariant } from '../../base/index.ts'
import { DEFAULT_LISTS, knownAgent } from '../../gate/index.ts'
import { type KnownHome, openHome, stateRoot } from '../../home/index.ts'
import {
  defaultStream,
  HOST_STREAM,
  hasCredentials,
  hasPasskeyBehind,
  scopeOfCommand,
} from '../../ledger/index.ts'
import { createDriver, type SandboxDriver } from '../../sandbox/index.ts'
import {
  ancestorNames,
  type GateSurface,
  type HomeInUse,
  openGate,
  stagePlaces,
} from '../../service/index.ts'
import type { CommandCall } from '../call/command.ts'
import { callerOf, type Session, streamsToRead, streamToWrite, withLedger } from '../call/home.ts'
import { surroundings } from '../call/terminal.ts'
import type { ConfirmationContext } from './confirm.ts'

export interface GateSession extends ConfirmationContext {
  readonly gate: GateSurface
  readonly stream: string
}

/** What a command had before it came here. */
export interface Begun {
  readonly home: KnownHome
  /** Closed when the command ends, also when it fails. */
  readonly driver: SandboxDriver
}

/** The gate over the stream that the caller names, else the caller's own. */
export async function withGate<T>(
  call: CommandCall,
  work: (session: GateSession) => Promise<T>,
  begun?: Begun,
): Promise<T> {
  const around = surroundings()
  const { home, driver } = begun ?? begin(openHome(around, call.options.text('home')))
  try {
    return await withLedger(home, async (ledger, register) => {
      const session = {
        home,
        ledger,
        register,
        caller: callerOf(around, register, scopeOfCommand(call.command)),
      }
      try {
        return await withGateOf(call, session, streamToWrite(session, call), work, driver)
      } finally {
        // The sandbox goes while the ledger is closed; a failure is heard of below.
        driver.close().catch(() => undefined)
        await nextTurn()
      }
    })
  } finally {
    await driver.close()
  }
}

/** Gates over every stream that the caller may know of, or over the one it names; its own first. */
export async function withGates<T>(
  call: CommandCall,
  work: (sessions: readonly GateSession[]) => Promise<T>,
): Promise<T> {
  return withSession(call, (session) => withGatesOf(call, session, work))
}

/** The same over a session that is open. */
export async function withGatesOf<T>(
  call: CommandCall,
  session: Session,
  work: (sessions: readonly GateSession[]) => Promise<T>,
): Promise<T> {
  const own = defaultStream(session.caller)
  const known = (await streamsToRead(session, call)).filter((stream) => stream !== HOST_STREAM)
  const streams = known.includes(own) ? [own, ...known.filter((name) => name !== own)] : known
  return withEach(call, session, streams.length === 0 ? [own] : streams, [], work)
}

async function withEach<T>(
  call: CommandCall,
  session: Session,
  [stream, ...rest]: readonly string[],
  opened: readonly GateSession[],
  work: (sessions: readonly GateSession[]) => Promise<T>,
): Promise<T> {
  if (stream === undefined) return work(opened)
  return withGateOf(call, session, stream, (gateSession) =>
    withEach(call, session, rest, [...opened, gateSession], work),
  )
}

/** A home whose laws changed is opened too: the gate blocks every decision there and says why. */
async function withSession<T>(
  call: CommandCall,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const around = surroundings()
  const home = openHome(around, call.options.text('home'))
  return withLedger(home, async (ledger, register) =>
    work({
      home,
      ledger,
      register,
      caller: callerOf(around, register, scopeOfCommand(call.command)),
    }),
  )
}

async function withGateOf<T>(
  call: CommandCall,
  session: Session,
  stream: string,
  work: (session: GateSession) => Promise<T>,
  given?: SandboxDriver,
): Promise<T> {
  const { ledger, register, caller } = session
  const around = surroundings()
  const ancestors = ancestorNames()
  // Callers open the session of a gate only over a known home.
  const home = session.home as KnownHome
  const gate = await openGate({
    home,
    ledger,
    caller,
    stream,
    stateRoot: stateRoot(around),
    userDirectory: around.userDirectory,
    environment: around.env,
    ancestors,
    hasPasskey: hasPasskeyBehind(register, caller.principal),
    hasCredential: hasCredentials(register),
    driver: given ?? begin(home).driver,
    leavesClosing: given !== undefined,
    nowMs: Date.now,
  })
  const isBelowAgent = knownAgent(DEFAULT_LISTS, ancestors) !== null
  try {
    return await work({ gate, stream, call, session, isBelowAgent })
  } finally {
    await gate.close()
  }
}

/** Lets Node report which processes ended; the driver then removes their directories. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

/** Puts layers that do not fit into memory on the disk of the stages: files are moved, not copied. */
function begin(home: KnownHome): Begun {
  return { home, driver: createDriver({ disks: stagePlaces(home), keepsPipes: true }) }
}

/** A home with what all its streams still need of the state directory. */
export async function homeInUse(sessions: readonly GateSession[]): Promise<HomeInUse> {
  const [own] = sessions
  invariant(own !== undefined, 'a caller has a stream')
  const holdings = []
  for (const { gate } of sessions) holdings.push(await gate.holdings())
  const { home, ledger } = own.session
  // A session of the gate is opened over a home that is known.
  return { home: home as KnownHome, ledger, holdings, nowMs: Date.now() }
}
