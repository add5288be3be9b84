/**
 * What a person hears about a run besides its effects: each host that was refused or not reached, once,
 * with the reason and what would let it through, a missing network, what was thrown away. Printed at
 * once. While the command has the terminal, a line is printed between two lines of the command, or when
 * the command is silent; for a command that draws on the whole screen, when it is over.
 */
import { CODES, isCode } from '../../base/index.ts'
import type { NetworkConnection } from '../../contracts/index.ts'
import { showHostPort } from '../../gate/index.ts'
import { visible, visibleName } from '../../words/index.ts'

/** A program can try as many names as it wants. */
const NOTICES_MAX = 20
/** How long a command that began a line may take to end it. */
const SILENT_MS = 300

/** Moves the cursor to other lines, scrolls, or leaves the ordinary screen. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these sequences begin with one.
const DRAWING = /\u001b(?:\[[\d;]*[ABEFHLMSTdfr]|\[\?(?:47|1047|1049)h|[78MD])/
const SEQUENCE_MAX = 16
const LINE_FEED = 0x0a

export class NetworkNotices {
  readonly #write: (text: string) => void
  readonly #told = new Set<string>()
  /** What each line begins with. */
  readonly #name: string
  #screen: ScreenUse | null
  #held: string[] = []
  #timer: NodeJS.Timeout | null = null

  /** `isShared`: the command has the terminal. */
  constructor(isShared: boolean, write: (text: string) => void, name = 'writ exec') {
    this.#name = name
    this.#screen = isShared ? new ScreenUse() : null
    this.#write = write
  }

  readonly refused = (connection: NetworkConnection, option: string | null): void => {
    this.#tell(refusalText(connection, option))
  }

  readonly unreachable = (): void => {
    this.#tell('this run has no network: add --net HOST for each host that it may reach')
  }

  readonly left = (count: number): void => {
    const what = count === 1 ? '1 entry of /tmp was' : `${count} entries of /tmp were`
    this.#tell(`${what} thrown away: a run has a /tmp of its own`)
  }

  /** One line about something else that happened meanwhile. */
  readonly told = (text: string): void => {
    this.#hold(`${this.#name}: ${text}`)
  }

  /** What the command wrote, after it was written. */
  output(bytes: Uint8Array): void {
    if (this.#screen === null) return
    this.#screen.take(bytes)
    if (this.#held.length > 0 && this.#screen.isAtLineStart) this.#print()
  }

  /** The terminal is ours again. */
  release(): void {
    this.#screen = null
    this.#print()
  }

  #tell(text: string): void {
    if (this.#told.has(text) || this.#told.size >= NOTICES_MAX) return
    this.#told.add(text)
    // Not `writ: …`, which is how the last line names a code.
    this.#hold(`${this.#name}: ${text}`)
  }

  #hold(line: string): void {
    this.#held.push(line)
    if (this.#screen === null || this.#screen.isAtLineStart) this.#print()
    else this.#timer ??= setTimeout(() => this.#print(), SILENT_MS).unref()
  }

  #print(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    const screen = this.#screen
    if (screen?.isDrawn === true) return
    // The terminal is raw while it is shared, so a line feed alone does not return.
    const end = screen === null ? '\n' : '\r\n'
    const start = screen === null || screen.isAtLineStart ? '' : end
    const lines = this.#held.splice(0)
    if (lines.length > 0) this.#write(`${start}${lines.join(end)}${end}`)
  }
}

/** Returns which host was refused or not reached, why, and what would let it through. */
export function refusalText(
  { host, port, method = '', code = '', outcome }: NetworkConnection,
  option: string | null = null,
): string {
  const place = visibleName(showHostPort(host, port))
  const what = method === '' ? place : `${visible(method)} ${place}`
  const why = isCode(code) ? CODES[code].says : visible(code)
  const advice = adviceFor(code, visibleName(host), port, option)
  const did = outcome === 'failed' ? 'no connection for' : 'refused'
  return `${did} ${what}: ${why}${advice === '' ? '' : `; ${advice}`} (${visible(code)})`
}

function adviceFor(code: string, host: string, port: number, option: string | null): string {
  switch (code) {
    case 'network.host':
      return `--net ${host} names it`
    case 'network.port':
      return `--net ${host}:${port} names the port`
    case 'network.address':
      return `add ${visible(option ?? '--net ADDRESS')}, the address that it resolves to, if that is meant`
    case 'network.method':
      return `to send to it, run this again with --send ${host}; if it is only read from, list it in settings.read_only_hosts of .writ/laws.yaml`
    case 'network.body':
    case 'network.upload':
      return `to send to it, run this again with --send ${host}`
    case 'network.unresolved':
      return 'look for a typing error, and whether this machine can resolve the name'
    // No option lifts the other refusals.
    default:
      return ''
  }
}

/**
 * How a command uses the terminal, as far as its output tells: line by line, or all over the screen.
 */
class ScreenUse {
  /** Whether the command has drawn on other lines than its last one. */
  isDrawn = false
  isAtLineStart = true
  #last = ''

  take(bytes: Uint8Array): void {
    const last = bytes.at(-1)
    if (last === undefined) return
    this.isAtLineStart = last === LINE_FEED
    if (this.isDrawn) return
    const text = `${this.#last}${Buffer.from(bytes).toString('latin1')}`
    this.isDrawn = DRAWING.test(text)
    this.#last = text.slice(-SEQUENCE_MAX)
  }
}
