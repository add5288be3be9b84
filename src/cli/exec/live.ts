/**
 * The person's terminal while a command runs inside: bytes go in and out as they are, sizes follow,
 * signals are forwarded. With a terminal on both sides the command has a pty of its own, and ours is
 * raw meanwhile; otherwise there are pipes, and of our input only what the command reads is taken.
 *
 * INVARIANT (nothing lost): from the start of the command until its question is durable no wish to end
 *   ends writ: it reaches the command, and the effects wait in the inbox.
 * INVARIANT (given back): every end of a run leaves the terminal in the mode in which it was
 * found: when the command ends, when writ stops with a fault, when a signal ends writ.
 */
import { readFileSync } from 'node:fs'
import { PassThrough } from 'node:stream'
import { isatty } from 'node:tty'
import { SYSTEM_CLOCK, stopOutputProcessing } from '../../machine/index.ts'
import type { ProposeOptions } from '../../service/index.ts'
import { KEEP_TITLE, obeysSequences, SeenOutput, TITLE_BACK } from '../effects/reset.ts'
import { NetworkNotices } from './network-notices.ts'
import { Output } from './output.ts'

type LiveRun = NonNullable<ProposeOptions['live']>

const FORWARDED = ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP'] as const
type Forwarded = (typeof FORWARDED)[number]
/** `timeout` signals its child and then the group: what comes so soon after a wish is the same wish. */
const SAME_WISH_MS = 1_000
/** A signal to a command that is only about to begin can be lost: then it is sent once more. */
const BEGINNING_MS = 1_000
/** How long a program may take to leave the terminal as it found it. */
const TIDYING_MS = 40
/** The byte that a terminal makes a stop of. */
const SUSPEND = 0x1a

export class Live {
  readonly abort = new AbortController()
  /** What the command wrote that lasts beyond it. */
  readonly seen = new SeenOutput()
  readonly #input = new PassThrough()
  readonly #isPty: boolean
  readonly #listeners: [NodeJS.Signals, () => void][] = []
  readonly #wishes: [NodeJS.Signals, () => void][] = []
  readonly #notices: NetworkNotices
  #send: (name: NodeJS.Signals) => void = () => {}
  readonly #output = new Output((name) => this.#send(name))
  #isRunning = false
  /** When writ itself was asked to end first. */
  #wishedMs: number | null = null
  #startedMs: number | null = null
  readonly #onInput = (chunk: Buffer): void => this.#take(chunk)
  readonly #onInputEnd = (): void => {
    this.#input.end()
  }

  /** `command` is the one of writ that runs it. */
  constructor(command: 'exec' | 'run' = 'exec') {
    // Asked of the kernel: looking at Node's own stream makes the input one that does not wait.
    this.#isPty = isatty(0) && process.stdout.isTTY === true
    this.#notices = new NetworkNotices(
      this.#isPty,
      (text) => process.stderr.write(text),
      `writ ${command}`,
    )
  }

  /** Whether writ itself got a signal to end; it asks nothing after that. */
  get wasEnded(): boolean {
    return this.#wishedMs !== null
  }

  /** Says a line to the person, between two lines of the command, or when it is over. */
  tell(text: string): void {
    this.#notices.told(text)
  }

  /** What the gate is given for the run. */
  run(): LiveRun {
    this.#begin()
    return {
      stdin: this.#isPty ? this.#input : process.stdin,
      terminal: this.#isPty ? terminalShape() : null,
      onOutput: (stream, bytes) => {
        this.seen.take(bytes)
        this.#output.write(process[stream], bytes)
        this.#notices.output(bytes)
      },
      onStarted: (send) => {
        this.#send = send
        this.#startedMs = SYSTEM_CLOCK.elapsedMs()
      },
      onRefused: this.#notices.refused,
      onUnreachable: this.#notices.unreachable,
      onLeftovers: this.#notices.left,
      onEnded: () => this.end(),
    }
  }

  #begin(): void {
    this.#isRunning = true
    for (const name of FORWARDED) listen(this.#wishes, name, () => this.#forward(name))
    listen(this.#listeners, 'SIGTSTP', () => this.#suspend())
    listen(this.#listeners, 'SIGCONT', () => this.#continue())
    process.on('exit', this.#onExit)
    this.#output.begin()
    if (!this.#isPty) return
    tell(KEEP_TITLE)
    makeRaw()
    const { stdin } = process
    stdin.on('data', this.#onInput)
    stdin.on('end', this.#onInputEnd)
    stdin.on('error', this.#onInputEnd)
  }

  /** The command is over, or never came to run: the terminal is the person's again. Idempotent. */
  end(): void {
    if (!this.#isRunning) return
    this.#isRunning = false
    for (const [name, listener] of this.#listeners) process.off(name, listener)
    process.off('exit', this.#onExit)
    this.#output.end()
    this.#giveBack()
    this.#notices.release()
  }

  /**
   * What became of the run is on the record: from now on a signal ends writ as it ends any program, unless it
   * is still the wish to end that writ obeys: that one comes to its end with its own exit status.
   */
  close(): void {
    this.end()
    const wishedMs = this.#wishedMs ?? Number.NEGATIVE_INFINITY
    if (SYSTEM_CLOCK.elapsedMs() - wishedMs >= SAME_WISH_MS) this.#dropWishes()
  }

  #dropWishes(): void {
    for (const [name, listener] of this.#wishes) process.off(name, listener)
  }

  readonly #onExit = (): void => this.end()

  #giveBack(): void {
    if (!this.#isPty) return
    const { stdin } = process
    stdin.off('data', this.#onInput)
    stdin.off('end', this.#onInputEnd)
    stdin.off('error', this.#onInputEnd)
    stdin.pause()
    try {
      stdin.setRawMode(false)
    } catch {
      // The terminal is gone.
    }
    tell(TITLE_BACK)
  }

  /** A later wish to end is not the command's to refuse, and after the command not writ's. */
  #forward(name: Forwarded): void {
    if (this.#isRunning) this.#send(name)
    const isWish = name === 'SIGTERM' || name === 'SIGHUP' || !this.#isRunning
    if (!isWish) return
    // Nothing runs yet, so nothing is lost.
    if (this.#startedMs === null) this.abort.abort()
    const nowMs = SYSTEM_CLOCK.elapsedMs()
    this.#wishedMs ??= nowMs
    if (nowMs - this.#wishedMs < SAME_WISH_MS) return this.#repeat(name, nowMs)
    if (this.#isRunning) return this.#send('SIGKILL')
    this.#dropWishes()
    process.kill(process.pid, name)
  }

  #repeat(name: Forwarded, nowMs: number): void {
    if (!this.#isRunning || nowMs - (this.#startedMs ?? nowMs) >= BEGINNING_MS) return
    const again = (): void => (this.#isRunning ? this.#send(name) : undefined)
    setTimeout(again, BEGINNING_MS).unref()
  }

  /**
   * Sends SIGTSTP first, for programs that tidy up when they get it. The kernel drops SIGTSTP for an
   * orphaned process group, as the command's is, so SIGSTOP follows a moment later.
   */
  #suspend(): void {
    this.#send('SIGTSTP')
    setTimeout(() => {
      if (!this.#isRunning) return
      this.#send('SIGSTOP')
      if (this.#isPty) process.stdin.setRawMode(false)
      process.kill(process.pid, 'SIGSTOP')
    }, TIDYING_MS)
  }

  #continue(): void {
    if (this.#isPty) makeRaw()
    this.#send('SIGCONT')
  }

  #take(chunk: Buffer): void {
    if (chunk.length === 1 && chunk[0] === SUSPEND && canStop()) {
      this.#suspend()
      return
    }
    if (this.#input.write(chunk)) return
    process.stdin.pause()
    this.#input.once('drain', () => {
      if (this.#isRunning) process.stdin.resume()
    })
  }
}

function listen(
  list: [NodeJS.Signals, () => void][],
  name: NodeJS.Signals,
  listener: () => void,
): void {
  list.push([name, listener])
  process.on(name, listener)
}

function tell(sequence: string): void {
  if (obeysSequences(process.env['TERM'])) process.stdout.write(sequence)
}

/**
 * Node's raw mode still makes two characters of a line feed, but the pty inside has done so already,
 * or was set not to. Leaving raw mode gives the terminal back as it was before, with this as well.
 */
function makeRaw(): void {
  process.stdin.setRawMode(true)
  stopOutputProcessing()
}

function terminalShape(): NonNullable<LiveRun['terminal']> {
  const { stdout } = process
  return {
    rows: stdout.rows ?? 24,
    columns: stdout.columns ?? 80,
    onResize: (listener) => {
      stdout.on('resize', () => listener(stdout.rows, stdout.columns))
    },
  }
}

/** Whether a parent could resume writ: one of the same session in another process group. */
function canStop(): boolean {
  const [ours, parents] = [groupOf(process.pid), groupOf(process.ppid)]
  if (ours === null || parents === null) return false
  return ours.session === parents.session && ours.group !== parents.group
}

function groupOf(pid: number): { group: string; session: string } | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const [, , group = '', session = ''] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { group, session }
  } catch {
    return null
  }
}
