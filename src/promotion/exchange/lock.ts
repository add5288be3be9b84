/**
 * One at a time on a workspace: an exclusive flock(2) on its root directory. `flock` from util-linux
 * sets it on a directory that this process has open and is gone again; the lock belongs to the open
 * directory, so the kernel drops it at the moment this process ends, however it ends. Nothing has to
 * be cleaned up after a crash.
 *
 * A process that takes the lock of a root again and again keeps a program that sets and drops it: the
 * program shares the open directory, so the lock outlives a death of the program. After a death of this
 * process the lock lasts until the program has read the end of its input.
 *
 * Taking it twice in one process waits as well, and is no way to nest.
 */
import { closeSync, fstatSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { FaultError, fault, showName, showPath } from '../../base/index.ts'
import {
  AnsweringProgram,
  FLOCK_CONFLICT,
  findProgram,
  flockWords,
  openEntry,
  requireProgram,
  startProgram,
} from '../../machine/index.ts'
import { machineFailure } from '../entries/failure.ts'

declare const locked: unique symbol
/** Proof that the lock is held: functions that need the lock take it as an argument. */
export interface WorkspaceLock {
  readonly root: string
  readonly [locked]: true
}

interface LockOptions {
  /** How long to wait for another holder of the lock; 0 does not wait. */
  readonly waitMs: number
}

/**
 * Runs `work` under the lock of the workspace; the root is a real path. Fails with `workspace.busy` if
 * another process holds the lock for longer than `waitMs`.
 */
export async function withWorkspaceLock<T>(
  root: string,
  { waitMs }: LockOptions,
  work: (lock: WorkspaceLock) => Promise<T>,
): Promise<T> {
  const drop = await take(root, waitMs)
  if (drop === null) throw busy(root)
  return whileTaken(root, drop, work)
}

/** The same where the lock is free; null, and nothing is done, where another holder has it. */
export async function ifWorkspaceFree<T>(
  root: string,
  work: (lock: WorkspaceLock) => Promise<T>,
): Promise<T | null> {
  const drop = await take(root, 0)
  return drop === null ? null : whileTaken(root, drop, work)
}

type Drop = () => Promise<void> | void

async function whileTaken<T>(
  root: string,
  drop: Drop,
  work: (lock: WorkspaceLock) => Promise<T>,
): Promise<T> {
  try {
    // The brand says what `take` has just done.
    return await work({ root } as WorkspaceLock)
  } finally {
    await drop()
  }
}

/** Returns how to drop the lock; null if another holder keeps it for longer than `waitMs`. */
async function take(root: string, waitMs: number): Promise<Drop | null> {
  const keeper = keeperOf(root)
  const taken = await keeper.take(waitMs)
  if (taken === 'busy') return null
  if (taken === 'held') return () => keeper.drop()
  const handle = openRoot(root)
  const drop = (): void => closeSync(handle)
  try {
    const status = await setLock(handle, waitMs)
    if (status === 0) return drop
    if (status !== FLOCK_CONFLICT) throw machineFailure({ code: 'ENOLCK' }, root)
  } catch (error) {
    drop()
    throw error
  }
  drop()
  return null
}

/** How often a root is locked by `flock` alone: a short command is done before a program pays. */
const LOCKS_BEFORE = 2
const ROOTS_MAX = 8
const KEEPERS = new Map<string, LockKeeper>()

function keeperOf(root: string): LockKeeper {
  const keeper = KEEPERS.get(root) ?? new LockKeeper(root)
  // The one that was used last comes last.
  KEEPERS.delete(root)
  KEEPERS.set(root, keeper)
  forgetOldest()
  return keeper
}

function forgetOldest(): void {
  if (KEEPERS.size <= ROOTS_MAX) return
  for (const [root, keeper] of KEEPERS) {
    if (!keeper.end()) continue
    KEEPERS.delete(root)
    return
  }
}

const [LOCK_EX, LOCK_NB, LOCK_UN] = [2, 4, 8]
const POLL_MS = 2
/** The program waits no longer at a time, so that it soon hears of the death of this process. */
const STEP_MS = 100

/** Sets and drops the lock on descriptor 3, line by line; waits for it as long as the line says. */
const KEEPER = `
$| = 1;
open(my $root, '<&=', 3) or exit 1;
while (my $line = <STDIN>) {
  my $is = 0;
  if ($line =~ /^lock (\\d+)/) {
    for (my $left = $1; ; $left -= ${POLL_MS}) {
      last if $is = flock($root, ${LOCK_EX} | ${LOCK_NB}) or $left <= 0;
      select(undef, undef, undef, ${POLL_MS / 1000});
    }
  } else { $is = flock($root, ${LOCK_UN}) }
  print $is ? 'yes' : 'no', "\\n.\\n";
}
`

type Taken = 'held' | 'busy' | 'none'

class LockKeeper {
  readonly #root: string
  #locks = 0
  #isTaken = false
  /** Takers of this process, in the order of asking. */
  readonly #waiting: (() => void)[] = []
  #handle: number | null = null
  #program: AnsweringProgram | null = null

  constructor(root: string) {
    this.#root = root
  }

  /** `none` where the lock has to be taken by `flock`. Waits for takers of this process, too. */
  async take(waitMs: number): Promise<Taken> {
    if (this.#locks++ < LOCKS_BEFORE) return 'none'
    const untilMs = performance.now() + waitMs
    while (this.#isTaken && performance.now() < untilMs) await this.#change(untilMs)
    if (this.#isTaken) return 'busy'
    // The lock belongs to the open directory: a second taker of the same one would not have to wait.
    this.#isTaken = true
    const taken = await this.#lock(untilMs)
    this.#isTaken = taken === 'held'
    if (!this.#isTaken) this.#wakeAll()
    return taken
  }

  /** Asks the program until it has the lock or the time is over. */
  async #lock(untilMs: number): Promise<Taken> {
    for (;;) {
      const leftMs = Math.max(0, Math.min(STEP_MS, Math.round(untilMs - performance.now())))
      const answer = (await this.#ready()?.ask(`lock ${leftMs}\n`)) ?? null
      // A program that died on its way may have set it.
      if (answer === null) this.#close()
      if (answer?.[0] === 'yes') return 'held'
      if (answer === null) return 'none'
      if (leftMs === 0) return 'busy'
    }
  }

  /** Until it is this taker's turn to look again. */
  #change(untilMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, untilMs - performance.now())
      this.#waiting.push(() => {
        clearTimeout(timer)
        resolve()
      })
    })
  }

  #wakeAll(): void {
    for (const wake of this.#waiting.splice(0)) wake()
  }

  async drop(): Promise<void> {
    const answer = await this.#program?.ask('drop\n')
    if (answer?.[0] !== 'yes') this.#close()
    this.#isTaken = false
    this.#wakeAll()
  }

  /** Ends the program; false if the lock is in use. */
  end(): boolean {
    if (!this.#isTaken) this.#close()
    return !this.#isTaken
  }

  /** Null where no program can be started; another one if the root is another directory now. */
  #ready(): AnsweringProgram | null {
    if (this.#program?.isAlive === true && this.#isOfRoot()) return this.#program
    this.#close()
    const perl = findProgram('perl')
    if (perl === null) return null
    this.#handle = openRoot(this.#root)
    this.#program = new AnsweringProgram(perl, ['-e', KEEPER], this.#handle)
    return this.#program
  }

  #isOfRoot(): boolean {
    const now = statSync(this.#root, { throwIfNoEntry: false })
    const own = this.#handle === null ? null : fstatSync(this.#handle)
    return now !== undefined && own !== null && now.dev === own.dev && now.ino === own.ino
  }

  /** Drops the lock as well: both that hold the directory open let go of it. */
  #close(): void {
    this.#program?.end()
    this.#program = null
    if (this.#handle !== null) closeSync(this.#handle)
    this.#handle = null
  }
}

function openRoot(root: string): number {
  try {
    return openEntry(root, 'list')
  } catch (error) {
    throw machineFailure(error, root)
  }
}

function setLock(handle: number, waitMs: number): Promise<number | null> {
  return new Promise((resolved, rejected) => {
    const child = startProgram(requireProgram('flock'), flockWords(waitMs), {
      stdio: ['ignore', 'ignore', 'ignore', handle],
    })
    child.on('error', (error) => rejected(machineFailure(error, 'flock')))
    child.on('exit', (status) => resolved(status))
  })
}

function busy(root: string): FaultError {
  const holder = findHolder(root)
  const details = { process: holder?.process ?? null, command: holder?.command ?? null }
  const who =
    holder === null ? 'another process' : `process ${holder.process} (${showName(holder.command)})`
  const message = `${who} of writ is at work in ${showPath(root)}; nothing was changed`
  const hint = 'wait until it has ended, then run the same again'
  return new FaultError(fault('workspace.busy', root, details, { message, hint }))
}

/** The process that has the root open with a lock on it, as far as this user may look. */
function findHolder(root: string): { readonly process: number; readonly command: string } | null {
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      for (const handle of readdirSync(`/proc/${name}/fd`)) {
        if (readlinkSync(`/proc/${name}/fd/${handle}`) !== root) continue
        if (!/^lock:.*FLOCK/m.test(readFileSync(`/proc/${name}/fdinfo/${handle}`, 'utf8'))) continue
        const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\u0000', ' ')
        return { process: Number(name), command: command.trim() }
      }
    } catch {
      // The process has exited, or belongs to another user: tries the next one.
    }
  }
  return null
}
