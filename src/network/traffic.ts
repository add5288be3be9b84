/**
 * The connections of a proxy, as the result of a run lists them (G-16). Bounded: past a number of entries,
 * equal ones are counted together; refused ones keep their addresses longest.
 */
import type { Code } from '../base/index.ts'
import type { NetworkConnection } from '../contracts/index.ts'
import { RUN_UPLOAD_MAX, readingAllowance, TUNNEL_UPLOAD_MAX } from '../gate/index.ts'

const ENTRIES_MAX = 500
const URL_LENGTH_MAX = 2_048

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/** What is about to go up; `counted` is what is neither a handshake nor an answered request. */
export interface Upload {
  readonly bytes: number
  readonly counted: number
}

/** One connection while it lasts. */
export class ConnectionEntry {
  readonly #traffic: Traffic
  readonly #turn: number
  #row: Mutable<NetworkConnection> = {
    host: '-',
    port: 0,
    outcome: 'failed',
    bytes_sent: 0,
    bytes_received: 0,
  }
  #isDone = false
  #counted = 0
  /** The option that would let it through, where one is known. */
  option: string | null = null

  constructor(traffic: Traffic, turn: number) {
    this.#traffic = traffic
    this.#turn = turn
  }

  /** What is known of the request; texts from outside are cut. */
  describe(seen: Partial<Pick<NetworkConnection, 'host' | 'port' | 'method' | 'url' | 'sni'>>) {
    for (const [name, value] of Object.entries(seen)) {
      if (value === undefined || value === '') continue
      const cut = typeof value === 'string' ? value.slice(0, URL_LENGTH_MAX) : value
      this.#row = { ...this.#row, [name]: cut }
    }
  }

  /** It goes to a host that the participant itself lives by. */
  serve(): void {
    this.#row.class = 'service'
  }

  pass(isReleased: boolean): void {
    this.#row.outcome = 'passed'
    if (isReleased && this.#row.class === undefined) this.#row.released = true
  }

  refuse(code: Code): void {
    this.#row.outcome = 'refused'
    this.#row.code = code
  }

  /** Marks the connection as failed: the act did not happen. Does nothing once bytes were sent. */
  fail(code: Code): void {
    if (this.#row.outcome === 'passed' && this.#row.bytes_sent > 0) return
    this.#row.outcome = 'failed'
    this.#row.code = code
  }

  get isRefused(): boolean {
    return this.#row.outcome === 'refused'
  }

  /** No server took the connection. */
  get isUnreached(): boolean {
    const { outcome, code = '' } = this.#row
    return outcome === 'failed' && UNREACHED.has(code)
  }

  received(bytes: number): void {
    this.#row.bytes_received += bytes
    this.#traffic.account(this.#row.host).receive(bytes)
  }

  sent(bytes: number): void {
    this.#row.bytes_sent += bytes
  }

  /** Whether so many bytes more may go up, of which some are counted; they are from then on. */
  mayUpload({ bytes, counted }: Upload): boolean {
    if (this.#counted + counted > TUNNEL_UPLOAD_MAX) return false
    const account = this.#traffic.account(this.#row.host)
    const isWithin = counted === 0 || account.maySend(counted)
    if (!isWithin || !this.#traffic.takeUpload(bytes)) return false
    account.sent += counted
    this.#counted += counted
    this.sent(bytes)
    return true
  }

  /**
   * The same, but waits a while for answers of the host that allow it: clients ask for much at once and
   * are answered later.
   */
  async mayUploadSoon(upload: Upload): Promise<boolean> {
    const untilMs = performance.now() + ANSWERS_MS
    for (;;) {
      if (this.mayUpload(upload)) return true
      const leftMs = untilMs - performance.now()
      if (leftMs <= 0 || this.#isDone) return false
      await this.#traffic.account(this.#row.host).more(leftMs)
    }
  }

  /** Of a connection that said nothing there is nothing to tell. */
  forget(): void {
    this.#isDone = true
  }

  end(): void {
    if (this.#isDone) return
    this.#isDone = true
    this.#traffic.add(this.#row, this.#turn)
  }

  get row(): NetworkConnection {
    return this.#row
  }
}

const ANSWERS_MS = 2_000
const UNREACHED: ReadonlySet<string> = new Set([
  'network.unresolved',
  'network.unreachable',
  'network.timeout',
])

/** What a run sent to one host and got from it, by all connections; what was released is not counted. */
class HostAccount {
  sent = 0
  #received = 0
  #waiting: (() => void)[] = []

  receive(bytes: number): void {
    this.#received += bytes
    for (const wake of this.#waiting.splice(0)) wake()
  }

  maySend(bytes: number): boolean {
    return this.sent + bytes <= readingAllowance(this.#received)
  }

  /** Kept when something came, or after so long. */
  more(withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, withinMs)
      this.#waiting.push(() => {
        clearTimeout(timer)
        resolve()
      })
    })
  }
}

export class Traffic {
  readonly #accounts = new Map<string, HostAccount>()
  #rows: { readonly row: NetworkConnection; readonly turn: number }[] = []
  #turns = 0
  readonly #groups = new Map<string, Mutable<NetworkConnection>>()
  #uploaded = 0

  entry(): ConnectionEntry {
    return new ConnectionEntry(this, this.#turns++)
  }

  add(row: NetworkConnection, turn: number): void {
    if (this.#rows.length < ENTRIES_MAX) this.#rows.push({ row, turn })
    else this.#group(row)
  }

  account(host: string): HostAccount {
    const known = this.#accounts.get(host) ?? new HostAccount()
    this.#accounts.set(host, known)
    return known
  }

  /** Counts bytes against the limit that all connections without a release share in a run. */
  takeUpload(bytes: number): boolean {
    if (this.#uploaded + bytes > RUN_UPLOAD_MAX) return false
    this.#uploaded += bytes
    return true
  }

  /** Everything that ended since the last call, in the order it began. */
  take(): readonly NetworkConnection[] {
    const rows = this.#rows.sort((one, other) => one.turn - other.turn).map(({ row }) => row)
    const taken = [...rows, ...this.#groups.values()]
    this.#rows = []
    this.#groups.clear()
    return taken
  }

  #group({ url: _url, sni: _sni, ...row }: NetworkConnection): void {
    const { host, port, outcome, code, method, released, class: kind } = row
    const whole = JSON.stringify([host, port, outcome, code, method, released, kind])
    // Names are the run's to choose: past as many groups again, one tells the rest.
    const key = this.#groups.has(whole) || this.#groups.size < ENTRIES_MAX ? whole : outcome
    const known = this.#groups.get(key)
    if (known === undefined) {
      this.#groups.set(key, { ...row })
      return
    }
    known.count = (known.count ?? 1) + 1
    known.bytes_sent += row.bytes_sent
    known.bytes_received += row.bytes_received
  }
}
