/**
 * What a person is told about a run besides its effects: each refused host once, with the reason and
 * what would let it through, a missing network, what was thrown away. Printed at once; while the command has the terminal, which it
 * may have filled, when it is over.
 */
import { CODES, isCode } from '../../base/index.ts'
import type { NetworkConnection } from '../../contracts/index.ts'
import { showHostPort } from '../../gate/index.ts'
import { visible, visibleName } from '../effects/visible.ts'

/** A program can try as many names as it wants. */
const NOTICES_MAX = 20

export class NetworkNotices {
  readonly #write: (text: string) => void
  readonly #told = new Set<string>()
  #held: string[] | null

  /** `isHeld`: the command has the terminal. */
  constructor(isHeld: boolean, write: (text: string) => void) {
    this.#held = isHeld ? [] : null
    this.#write = write
  }

  readonly refused = (connection: NetworkConnection): void => {
    this.#tell(refusalText(connection))
  }

  readonly unreachable = (): void => {
    this.#tell('this run has no network: add --net HOST for each host that it may reach')
  }

  readonly left = (count: number): void => {
    const what = count === 1 ? '1 entry of /tmp was' : `${count} entries of /tmp were`
    this.#tell(`${what} thrown away: a run has a /tmp of its own`)
  }

  /** The terminal is ours again. */
  release(): void {
    const held = this.#held ?? []
    this.#held = null
    for (const line of held) this.#write(line)
  }

  #tell(text: string): void {
    if (this.#told.has(text) || this.#told.size >= NOTICES_MAX) return
    this.#told.add(text)
    // Not `writ: …`, which is how the last line names a code.
    const line = `writ exec: ${text}\n`
    if (this.#held === null) this.#write(line)
    else this.#held.push(line)
  }
}

/** Returns which host was refused, why, and what would let it through. */
export function refusalText({ host, port, method = '', code = '' }: NetworkConnection): string {
  const place = visibleName(showHostPort(host, port))
  const what = method === '' ? place : `${visible(method)} ${place}`
  const why = isCode(code) ? CODES[code].says : visible(code)
  const advice = adviceFor(code, visibleName(host), port)
  return `refused ${what}: ${why}${advice === '' ? '' : `; ${advice}`} (${visible(code)})`
}

function adviceFor(code: string, host: string, port: number): string {
  switch (code) {
    case 'network.host':
      return `--net ${host} names it`
    case 'network.port':
      return `--net ${host}:${port} names the port`
    case 'network.address':
      return 'add --net ADDRESS with the address that it resolves to, if that is meant'
    case 'network.method':
    case 'network.body':
    case 'network.upload':
      return 'release the host before the run, or list it in settings.read_only_hosts of .writ/laws.yaml if it is only read from'
    default:
      return ''
  }
}
