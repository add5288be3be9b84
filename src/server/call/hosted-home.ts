/**
 * A home that the service has open: its ledger once, and for each request a gate in the name of the
 * caller. A gate reads the laws when it is opened, so that a change of the laws holds from the next
 * request on.
 */
import { DeviceDesk } from '../../dispatch/index.ts'
import {
  type KnownHome,
  openHome,
  RegisterReader,
  type Surroundings,
  stateRoot,
} from '../../home/index.ts'
import {
  type Caller,
  HOST_STREAM,
  hasCredentials,
  hasPasskeyBehind,
  type Register,
} from '../../ledger/index.ts'
import { createDriver, type SandboxDriver } from '../../sandbox/index.ts'
import {
  type AccompanyingRecord,
  type GateSurface,
  openGate,
  stagePlaces,
} from '../../service/index.ts'
import { type Ledger, openLedger, SharedStandings } from '../../store/index.ts'

export class HostedHome {
  readonly #around: Surroundings
  readonly #reader: RegisterReader
  /** What a sandbox needs on this machine is made once. */
  readonly #driver: SandboxDriver
  readonly #ancestors: readonly string[]
  readonly #standings = new SharedStandings()
  readonly home: KnownHome
  readonly ledger: Ledger
  /** What devices are offered. */
  readonly devices: DeviceDesk

  private constructor(
    around: Surroundings,
    home: KnownHome,
    ledger: Ledger,
    ancestors: readonly string[],
  ) {
    this.#around = around
    this.#ancestors = ancestors
    this.home = home
    this.ledger = ledger
    this.devices = new DeviceDesk({ ledger, state: home.state, nowMs: Date.now })
    this.#reader = new RegisterReader({ ledger, state: home.state })
    this.#driver = createDriver({ disks: stagePlaces(home), keepsPipes: true })
  }

  /** `ancestors`: the programs that started the callers, where they are known. */
  static async open(
    around: Surroundings,
    directory: string | null,
    ancestors: readonly string[] = [],
  ): Promise<HostedHome> {
    const home = openHome(around, directory)
    const ledger = await openLedger({ directory: home.state })
    return new HostedHome(around, home, ledger, ancestors)
  }

  register(): Promise<Register> {
    return this.#reader.read()
  }

  /** Opens a gate, hands it over, and closes it. `ancestors`: the caller's, besides the known ones. */
  async withGate<T>(
    caller: Caller,
    stream: string,
    work: (gate: GateSurface) => Promise<T>,
    alongside?: AccompanyingRecord,
    ancestors: readonly string[] = [],
  ): Promise<T> {
    // A home that was moved, copied or untrusted meanwhile is refused here.
    const home = openHome(this.#around, this.home.directory)
    const register = await this.register()
    const { owner } = register
    const { principal } = caller
    const answers = principal.kind === 'human' ? principal : owner
    const gate = await openGate({
      home,
      ledger: this.ledger,
      caller,
      stream,
      stateRoot: stateRoot(this.#around),
      userDirectory: this.#around.userDirectory,
      environment: this.#around.env,
      ancestors: [...this.#ancestors, ...ancestors],
      hasPasskey: answers !== null && hasPasskeyBehind(register, answers),
      hasCredential: hasCredentials(register),
      driver: this.#driver,
      standings: this.#standings,
      leavesClosing: true,
      nowMs: Date.now,
      ...(alongside === undefined ? {} : { alongside }),
    })
    try {
      return await work(gate)
    } finally {
      await gate.close()
    }
  }

  /** Ends what a crash interrupted: promotions that had begun, and those that were decided. */
  async finishInterrupted(userName: string): Promise<void> {
    const { owner } = await this.register()
    const principal = owner ?? { kind: 'human', id: userName, namespace: 'local' }
    const caller: Caller = { principal, streams: null, proof: 'none' }
    for (const { stream } of await this.ledger.store.heads()) {
      if (stream !== HOST_STREAM) await this.withGate(caller, stream, (gate) => gate.recoveries())
    }
  }

  async close(): Promise<void> {
    await this.#driver.close()
    this.#standings.close()
    await this.ledger.close()
  }
}
