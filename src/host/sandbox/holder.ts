/**
 * The holder: a shell in a user and mount namespace of its own that mounts the overlays and starts one
 * bubblewrap after another in them. While it lives, upper and merged directories can be reached through
 * its /proc entry; when it dies, every mount is gone.
 *
 * INVARIANT (no survivor): the holder is killed by the kernel when the thread that started it dies,
 *   bubblewrap when the holder dies, and the process namespace with bubblewrap's child.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import type { Duplex, Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { FD } from './bubble.ts'
import { Lines } from './lines.ts'
import { startFailure } from './missing-control.ts'
import { READ_ONLY } from './mount-lines.ts'
import { PROGRAM_ENV, requireProgram } from './programs.ts'
import { quote, quoteAll } from './shell-text.ts'

export interface HolderPlan {
  /** The directory with fstab and run script; no blanks or quotes in its name. */
  readonly directory: string
  /** Options of the memory filesystem at `t`, or null when nothing lies in memory. */
  readonly memory: string | null
  /** Files of control groups through which the holder joins them, before anything else. */
  readonly doors: readonly string[]
  /** Root over files of many owners. */
  readonly fullMap: boolean
  /** Inherited file descriptors that have to be closed first. */
  readonly strayDescriptors: readonly number[]
  /** One more socket, for the command inside. */
  readonly hasChannel: boolean
  /** Directories whose attributes are looked at before anything lies over them. */
  readonly attributesOf: readonly string[]
}

/** The file that a command reads as its standard input, where that is one. */
export const INPUT = 'input'
/** The file that lists what was found of them. */
export const CARRIERS = 'carriers'

const LAST_WORDS_MS = 500

/** By descriptor: see `FD`. */
const STREAMS: readonly ('ignore' | 'pipe')[] = [
  'ignore',
  'ignore',
  'pipe',
  'ignore',
  'pipe',
  'pipe',
  'ignore',
  'pipe',
]
const CHANNEL_STREAMS: readonly ('ignore' | 'pipe')[] = ['ignore', 'pipe']

export class Holder {
  readonly pid: number
  readonly control: Lines
  readonly inner: Lines
  readonly status: Lines
  /** Our end of what a command finds on its descriptor 3. */
  readonly channel: Duplex | null
  readonly #process: ChildProcess
  readonly #words: Lines
  readonly #controlSocket: Duplex
  readonly #innerSocket: Duplex
  readonly #exited: Promise<void>
  readonly #silent: Promise<void>
  #isMapped: boolean

  constructor(plan: HolderPlan) {
    const [command, ...rest] = commandLine(plan)
    this.#process = spawn(command, rest, {
      cwd: '/',
      env: PROGRAM_ENV,
      // A session of its own: signals of the caller's terminal are forwarded, not delivered.
      detached: true,
      stdio: [...STREAMS, ...(plan.hasChannel ? CHANNEL_STREAMS : [])],
    })
    this.pid = this.#process.pid ?? 0
    this.#exited = new Promise((resolve) => {
      this.#process.once('exit', () => resolve())
      this.#process.once('error', () => resolve())
    })
    this.#silent = new Promise((resolve) => {
      this.#process.once('close', () => resolve())
    })
    this.#controlSocket = this.#socket(FD.holder)
    this.#innerSocket = this.#socket(FD.inner)
    this.control = new Lines(this.#controlSocket)
    this.inner = new Lines(this.#innerSocket)
    this.status = new Lines(this.#socket(FD.status))
    this.#words = new Lines(this.#socket(2))
    this.channel = plan.hasChannel ? this.#socket(FD.channel) : null
    this.#isMapped = !plan.fullMap
  }

  /** A path of the holder's own mounts, as this process can reach it. */
  reach(path: string): string {
    return `/proc/${this.pid}/root${path}`
  }

  get isAlive(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null
  }

  /** Until the memory filesystem is there, where one is asked for. */
  async begin(): Promise<void> {
    if (!this.#isMapped) {
      await this.expect('U')
      writeFileSync(`/proc/${this.pid}/uid_map`, '0 0 4294967295')
      writeFileSync(`/proc/${this.pid}/gid_map`, '0 0 4294967295')
      this.#isMapped = true
      this.go()
    }
    await this.expect('T')
  }

  go(): void {
    this.#controlSocket.write('\n')
  }

  /** A line for the shell that waits inside. */
  tellInside(line: string): void {
    this.#innerSocket.write(`${line}\n`)
  }

  /** The next line of the holder, which has to be this one. */
  async expect(line: string): Promise<void> {
    const came = await this.control.next()
    if (came === line) return
    // What it said last may still be on its way.
    await Promise.race([this.#silent, pause(LAST_WORDS_MS)])
    throw startFailure(this.#words.rest())
  }

  /** What the programs of the holder complained about. */
  words(): string {
    return this.#words.rest()
  }

  async kill(): Promise<void> {
    this.#process.kill('SIGKILL')
    await this.#exited
    for (const socket of this.#process.stdio) socket?.destroy()
  }

  #socket(descriptor: number): Duplex {
    // Asked for as pipes above; Node's sockets go both ways.
    const socket = this.#process.stdio[descriptor] as Readable as Duplex
    // A write to a holder that is gone is told by the line that never comes.
    socket.on('error', () => undefined)
    return socket
  }
}

function commandLine(plan: HolderPlan) {
  const { fullMap, strayDescriptors } = plan
  const shell = [requireProgram('sh'), '-c', holderScript(plan)]
  const dying = [requireProgram('setpriv'), '--pdeathsig', 'KILL', ...shell]
  const unshare = requireProgram('unshare')
  // With the full map, programs start without capabilities until it is written: so a shell waits for
  // the map first, and what it becomes has them.
  const wait = `echo U >&${FD.holder}; read -r map <&${FD.holder} && exec "$@"`
  const inside: [string, ...string[]] = fullMap
    ? [unshare, '-U', '-m', requireProgram('sh'), '-c', wait, 'writ', ...dying]
    : [unshare, '-U', '-m', '-r', ...dying]
  if (strayDescriptors.length === 0) return inside
  const closing = strayDescriptors.map((descriptor) => `exec ${descriptor}<&-`).join(';')
  const first: [string, ...string[]] = [requireProgram('bash'), '-c', `${closing};exec "$@"`]
  return [...first, 'writ', ...inside] as [string, ...string[]]
}

/**
 * T: the memory filesystem is there, M: the overlays are, E: one bubblewrap has ended. The first one
 * starts by itself, since it is needed whatever the command is.
 */
function holderScript(plan: HolderPlan): string {
  const { directory, memory, doors, attributesOf, hasChannel } = plan
  const mount = requireProgram('mount')
  const carriers = `${directory}/${CARRIERS}`
  return [
    ...doors.map((door) => `echo 0 >${quote(door)} || exit 90`),
    ...(memory === null ? [] : [`${mount} -t tmpfs -o ${memory} writ ${directory}/t || exit 91`]),
    `echo T >&${FD.holder}`,
    ...(attributesOf.length === 0 ? [`: >${carriers}`] : attributeLines(attributesOf, carriers)),
    `read -r line <&${FD.holder} || exit`,
    `${mount} -a -T ${directory}/fstab || exit 92`,
    // Held here too, so that how far it was read can be seen when all readers are dead.
    ...(hasChannel ? [] : [`exec ${FD.input}<${directory}/${READ_ONLY}/${INPUT}`]),
    `echo M >&${FD.holder}`,
    `while :; do`,
    `. ${directory}/run`,
    `echo "E$?" >&${FD.holder}`,
    `read -r line <&${FD.holder} || exit`,
    'done',
  ].join('\n')
}

/** Status 1 is a directory without attributes at all, on a filesystem that has none. */
function attributeLines(paths: readonly string[], carriers: string): readonly string[] {
  const words = ['--absolute-names', '-h', '-m', '^user\\.overlay\\.', '--', ...paths]
  return [
    `${requireProgram('getfattr')} ${quoteAll(words)} >${carriers} 2>/dev/null`,
    '[ $? -le 1 ] || { echo "attributes cannot be read" >&2; exit 93; }',
  ]
}
