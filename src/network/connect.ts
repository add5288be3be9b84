/**
 * How the host connects: resolves a name once, checks every address that it resolves to, and connects
 * only to those addresses. What the name resolves to a moment later has no effect.
 *
 * INVARIANT (resolved once): between judging an address and connecting to it no name is asked again.
 * INVARIANT (one is enough): a name that leads to one refused address is refused as a whole.
 */
import { connect, type OnReadOpts, type Socket } from 'node:net'
import { type Fault, fault } from '../base/index.ts'
import { addressName, type HostPort, parseAddress, refusedAddress } from '../gate/index.ts'

interface Target {
  /** A name in ASCII, or an address without brackets. */
  readonly host: string
  readonly port: number
}

/** Literal addresses that a scope names; a literal without a port allows every port. */
export interface AddressRules {
  readonly literals: readonly Pick<HostPort, 'name' | 'port'>[]
}

export type Resolve = (host: string) => Promise<readonly string[]>

interface ConnectOptions {
  readonly resolve?: Resolve
  readonly timeoutMs?: number
  readonly abort?: AbortSignal
  /** Where the bytes that come go, instead of `data` events. */
  readonly onread?: OnReadOpts
}

const ADDRESSES_MAX = 4
const CONNECT_MS = 15_000

/** All addresses of a name, IPv4 first; an address is its own. */
export async function resolveOnce(host: string): Promise<readonly string[]> {
  if (parseAddress(host) !== null) return [host]
  const { lookup } = await import('node:dns/promises')
  const found = await lookup(host, { all: true, order: 'ipv4first' })
  return found.map(({ address }) => address)
}

/** A connected socket with no listeners of ours left on it, or why there is none. */
export async function connectOnce(
  { host, port }: Target,
  rules: AddressRules,
  options: ConnectOptions = {},
): Promise<Socket | Fault> {
  const { resolve = resolveOnce, timeoutMs = CONNECT_MS } = options
  const addresses = await addressesOf(host, resolve, timeoutMs)
  if (!isList(addresses)) return addresses
  const refused = addresses.find((address) => !isOpen(address, port, rules))
  if (refused !== undefined) {
    const reason = refusedAddress(refused) ?? ''
    const message = `\`${host}\` leads to ${refused} (${reason})`
    return fault('network.address', host, null, { message, hint: `--net ${refused}` })
  }
  const deadlineMs = performance.now() + timeoutMs
  let last: Socket | Fault = fault('network.unresolved', host, null)
  for (const address of addresses.slice(0, ADDRESSES_MAX)) {
    last = await connectTo(address, { host, port }, deadlineMs - performance.now(), options)
    if (!('code' in last)) return last
  }
  return last
}

/** Returns whether a socket may be opened there: the address is public, or a scope names it. */
export function isOpen(address: string, port: number, { literals }: AddressRules): boolean {
  if (parseAddress(address) === null) return false
  if (refusedAddress(address) === null) return true
  const name = addressName(address)
  return literals.some(
    (literal) => literal.name === name && (literal.port === null || literal.port === port),
  )
}

async function addressesOf(
  host: string,
  resolve: Resolve,
  timeoutMs: number,
): Promise<readonly string[] | Fault> {
  // An address needs no resolving.
  if (parseAddress(host) !== null) return [host]
  const late = new Promise<readonly string[]>((_, reject) => {
    setTimeout(reject, timeoutMs, new Error('late')).unref()
  })
  try {
    const found = await Promise.race([resolve(host), late])
    return found.length === 0 ? fault('network.unresolved', host, null) : found
  } catch {
    return fault('network.unresolved', host, null)
  }
}

function isList(value: readonly string[] | Fault): value is readonly string[] {
  return Array.isArray(value)
}

function connectTo(
  address: string,
  { host, port }: Target,
  timeoutMs: number,
  { abort, onread }: ConnectOptions,
): Promise<Socket | Fault> {
  return new Promise((resolve) => {
    const unreachable = (reason: string): Fault =>
      fault('network.unreachable', host, null, { message: `\`${host}\` at ${address}: ${reason}` })
    if (abort?.aborted || timeoutMs <= 0) return resolve(unreachable('too late'))
    const reading = onread === undefined ? {} : { onread }
    const plain = { host: address, port, allowHalfOpen: true, noDelay: true }
    const socket = connect({ ...plain, ...reading })
    const end = (failed: Fault | null): void => {
      clearTimeout(timer)
      abort?.removeEventListener('abort', onAbort)
      socket.removeListener('error', onError).removeListener('connect', onConnect)
      if (failed !== null) socket.on('error', () => undefined).destroy()
      resolve(failed ?? socket)
    }
    const onAbort = (): void => end(unreachable('the run was stopped'))
    const onError = (error: NodeJS.ErrnoException): void => end(unreachable(error.code ?? 'error'))
    const onConnect = (): void => end(null)
    const timer = setTimeout(() => end(fault('network.timeout', host, null)), timeoutMs)
    abort?.addEventListener('abort', onAbort, { once: true })
    socket.once('error', onError).once('connect', onConnect)
  })
}
