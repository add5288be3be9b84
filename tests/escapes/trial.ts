/**
 * One attempt on its ground: opened, run, read, closed, and then everything around it is looked at.
 * Each problem is one line of text.
 */
import {
  closeSync,
  createReadStream,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  type Stats,
} from 'node:fs'
import { getPriority } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type {
  RunOutcome,
  RunRequest,
  Sandbox,
  SandboxDriver,
} from '../../src/sandbox/driver/driver.ts'
import { findGroupPlaces } from '../../src/sandbox/kernel/cgroup.ts'
import { createDriver } from '../../src/sandbox/linux.ts'
import { type Marker, makeMarker } from '../../src/tree/marker.ts'
import { PATH_BYTES_MAX, type Scan, scanLayers } from '../../src/tree/scan.ts'
import type { Attempt, Opener, Text } from './attempt.ts'
import {
  differences,
  type Ground,
  InputPipe,
  Listener,
  makeGround,
  ReadPipe,
  statesBelow,
  Victim,
} from './decoys.ts'

export interface EscapeOrder {
  readonly as: Opener
  readonly base: string
  readonly calls: string
  readonly watcher: string
  /** Which attempts, in which order. */
  readonly ids: readonly string[]
  readonly parallel: number
  /** Occurs in every secret, and nowhere else. */
  readonly token: string
}

const CAPS = { cpuMs: 20_000, memoryMb: 512, diskMb: 64, durationMs: 40_000, processes: 64 }
const isRoot = process.getuid?.() === 0

/** What all attempts of a process share. */
export interface Setting {
  readonly order: EscapeOrder
  readonly driver: SandboxDriver
  readonly sandboxes: string
  readonly disk: string
  readonly listeners: Readonly<Record<'socket' | 'abstract' | 'port', Listener>>
  readonly abstract: string
  readonly victim: Victim
  readonly priority: number
  /** Closed at the end: a socket that goes while a sandbox is opened is another matter. */
  readonly kept: Listener[]
  close(): Promise<void>
}

export async function makeSetting(order: EscapeOrder): Promise<Setting> {
  const { base, token } = order
  const sandboxes = mkdtempSync('/tmp/writ-escapes-')
  const disk = join(base, 'disk')
  mkdirSync(join(base, 'sockets'))
  mkdirSync(disk)
  const abstract = `writ-escape-${process.pid}`
  const listeners = {
    socket: await Listener.at(join(base, 'sockets/socket'), token),
    abstract: await Listener.at(`\0${abstract}`, token),
    port: await Listener.at(0, token),
  }
  const victim = new Victim(token)
  const kept: Listener[] = []
  const watcher = new URL(order.watcher)
  const driver = createDriver({ watcher, directory: sandboxes, disks: [disk] })
  const close = async (): Promise<void> => {
    await driver.close()
    for (const listener of [...kept, ...Object.values(listeners)]) listener.close()
    victim.close()
  }
  const priority = getPriority()
  return { order, driver, sandboxes, disk, listeners, abstract, victim, priority, kept, close }
}

/** Everything that is wrong after one attempt. */
export async function tried(setting: Setting, attempt: Attempt): Promise<readonly string[]> {
  const { order, listeners, victim, priority, kept } = setting
  const ground = makeGround(
    join(order.base, attempt.id.replace('/', '-')),
    order.token,
    attempt.before,
  )
  const own = attempt.listens
    ? await Promise.all(
        [ground.scope, ground.home].map((place) => Listener.at(join(place, 'socket'), order.token)),
      )
    : []
  const input = inputOf(attempt, ground)
  const pipes = [ground.scope, ground.home, ground.outside].map(
    (place) => new ReadPipe(join(place, 'pipe')),
  )
  const before = statesBelow(ground.top)
  try {
    const wrong = [...(await sandboxed(setting, attempt, ground, input.stdin))]
    for (const listener of [...own, ...Object.values(listeners)]) {
      if (listener.takeVisits() > 0) wrong.push('somebody of the machine was spoken to')
    }
    for (const pipe of pipes) if (pipe.takeBytes() > 0) wrong.push('a pipe was written to')
    wrong.push(...differences(before, statesBelow(ground.top)).map((path) => `changed ${path}`))
    wrong.push(...input.complaints())
    if (getPriority() !== priority) wrong.push('the priority of the opener was changed')
    return [...wrong, ...victim.complaints()]
  } finally {
    for (const one of [...pipes, input]) one.close()
    kept.push(...own)
  }
}

interface Input {
  readonly stdin: RunRequest['stdin']
  complaints(): readonly string[]
  close(): void
}

/** What the command is given as its standard input. */
function inputOf({ input }: Attempt, { top, outside }: Ground): Input {
  if (input === undefined) return { stdin: 'empty', complaints: () => [], close: () => undefined }
  if (input === 'file') {
    const fd = openSync(join(outside, 'file'), 'r+')
    const stdin = createReadStream('', { fd, autoClose: false })
    return { stdin, complaints: () => [], close: () => closeSync(fd) }
  }
  const pipe = new InputPipe(join(top, 'input'))
  return {
    stdin: pipe.stream(),
    complaints: () => pipe.complaints(),
    close: () => pipe.close(),
  }
}

async function sandboxed(
  setting: Setting,
  attempt: Attempt,
  ground: Ground,
  stdin: RunRequest['stdin'],
): Promise<readonly string[]> {
  const { order, driver } = setting
  const sandboxId = `escape-${process.pid}-${attempt.id.replace('/', '-')}`
  const marker = makeMarker(join(order.base, 'markers'), sandboxId, [ground.scope], Date.now)
  const sandbox = await driver.open({
    sandboxId,
    scopeRoots: [ground.scope],
    watchedRoots: [ground.home],
    hidden: ground.hidden,
    caps: { ...CAPS, ...attempt.caps },
    sockets: attempt.sockets ?? 'inside',
    allOwners: order.as === 'root over many owners',
  })
  const output: Buffer[] = []
  const wrong: string[] = []
  let endedMs = 0
  const run = (program: Text): Promise<RunOutcome> =>
    sandbox.run({
      argv: commandOf(program),
      cwd: ground.scope,
      env: environmentOf(setting, ground),
      stdin,
      terminal: attempt.terminal ? { rows: 24, columns: 80, onResize: () => undefined } : null,
      onOutput: (_, bytes) => output.push(Buffer.from(bytes.subarray(0, 65_536))),
      abort: new AbortController().signal,
    })
  try {
    const outcome = await run(attempt.program)
    wrong.push(...outcomeFaults(attempt, outcome))
    if (outcome.killedBy === null) {
      if (attempt.next !== undefined) await run(attempt.next)
      const scan = await readLayers(sandbox, marker, outcome.startedAtMs, ground)
      wrong.push(...scanFaults(attempt, scan, ground))
      wrong.push(...outputFaults(attempt, Buffer.concat(output).toString('latin1')))
    }
    endedMs = Number(process.hrtime.bigint() / 1_000_000n)
    wrong.push(...leaks(order.token, sandbox, Buffer.concat(output)))
  } finally {
    await sandbox.close()
  }
  return [...wrong, ...(await leftovers(setting, sandboxId, Buffer.concat(output), endedMs))]
}

function readLayers(
  { layers }: Sandbox,
  marker: Marker,
  commandStartedAtMs: number,
  { scope }: Ground,
): Promise<Scan> {
  return scanLayers(layers, {
    marker,
    commandStartedAtMs,
    maxBytes: 2 ** 31,
    pathBytesMax: PATH_BYTES_MAX,
    scopeRoots: [scope],
    isRoot,
    exclude: [],
  })
}

const LANGUAGES = {
  sh: ['/bin/sh', '-c'],
  perl: ['/usr/bin/perl', '-e'],
  python3: ['/usr/bin/python3', '-c'],
  node: [process.execPath, '-e'],
} as const

/**
 * Says in which namespace it is, tries, and says that it did. The first is said once more at the end: an
 * attempt that reads from every descriptor can take its own output out of the pipe before it is heard.
 */
export function commandOf([language, text]: Text): [string, ...string[]] {
  const say = 'readlink /proc/self/ns/pid'
  const around = `${say}; "$@"; printf "\\nTRIED $?\\n"; ${say}`
  return ['/bin/sh', '-c', around, 'attempt', ...LANGUAGES[language], text]
}

function environmentOf(
  { order, abstract, listeners, victim }: Setting,
  { outside, hidden, home }: Ground,
): Record<string, string> {
  return {
    PATH: '/usr/bin:/bin',
    HOME: home,
    OUT: outside,
    HIDDEN: hidden[0] ?? '',
    STATE: hidden[1] ?? '',
    SOCKET: join(order.base, 'sockets/socket'),
    ABSTRACT: abstract,
    PORT: String(listeners.port.port),
    VICTIM: String(victim.pid),
    CALLS: order.calls,
  }
}

function outcomeFaults({ expects = {}, onDisk }: Attempt, outcome: RunOutcome): readonly string[] {
  const { killedBy, backgroundProcesses, resources } = outcome
  const isPolled = resources.enforcedBy.processes === 'polled'
  const usual = expects.killedBy ?? [null]
  const wanted = isPolled ? (expects.killedByPolled ?? usual) : usual
  const wrong: string[] = []
  if (onDisk && resources.enforcedBy.disk !== 'polled') wrong.push('not on a disk')
  if (!wanted.includes(killedBy)) {
    wrong.push(`killed by ${killedBy}, not ${wanted.join(' or ')}: ${JSON.stringify(outcome)}`)
  }
  const isBackground = expects.background === true && killedBy === null
  if (expects.background !== 'any' && isBackground !== backgroundProcesses > 0) {
    wrong.push(`${backgroundProcesses} processes were told to be left`)
  }
  return wrong
}

function scanFaults(
  { expects = {} }: Attempt,
  { changes, findings }: Scan,
  { scope, home }: Ground,
): readonly string[] {
  const told = new Set<string>(changes.map(({ path }) => path))
  const codes = new Set<string>(findings.map(({ code }) => code))
  const missing = (expects.changes ?? []).filter((path) => {
    const place = path.startsWith('~/') ? join(home, path.slice(2)) : `${scope}/${path}`
    return !told.has(place)
  })
  const quiet = (expects.findings ?? []).filter((code) => !codes.has(code))
  const strange = [...told].filter((path) => !path.startsWith(scope) && !path.startsWith(home))
  return [
    ...missing.map((path) => `not told as changed: ${JSON.stringify(path)}`),
    ...quiet.map((code) => `not found: ${code}, but ${JSON.stringify(findings)}`),
    ...strange.map((path) => `told as changed, outside: ${path}`),
  ]
}

function outputFaults({ expects = {} }: Attempt, output: string): readonly string[] {
  const wrong = output.split(/\r?\n/).filter((line) => line.startsWith('ESCAPED'))
  const status = Number(/^TRIED (\d+)/m.exec(output)?.[1] ?? 127)
  const isTried = expects.says === undefined ? status < 126 || status > 127 : true
  if (!isTried || !output.includes(expects.says ?? '')) {
    wrong.push(`was not tried: ${JSON.stringify(output.slice(-2000))}`)
  }
  return wrong
}

const LEAK_BYTES = 1_000_000
const LEAK_FILES = 500

/** The secret in what came out, or in what was written. */
function leaks(token: string, { layers }: Sandbox, output: Buffer): readonly string[] {
  const wrong = output.includes(token) ? [`a secret came out: ${output.toString('latin1')}`] : []
  const places = layers.map(({ upper }) => upper)
  let files = 0
  for (let path = places.pop(); path !== undefined && files < LEAK_FILES; path = places.pop()) {
    for (const name of namesIn(path)) {
      const at = join(path, name)
      const found = lstatOrNull(at)
      if (found === null) continue
      if (found.isDirectory()) places.push(at)
      else if (
        found.isFile() &&
        found.size < LEAK_BYTES &&
        ++files < LEAK_FILES &&
        holds(token, at)
      ) {
        wrong.push(`a secret was written to ${at}`)
      }
    }
  }
  return wrong
}

function holds(token: string, path: string): boolean {
  try {
    return readFileSync(path).includes(token)
  } catch {
    // Not readable for its owner: so it was not for who made it.
    return false
  }
}

/** Names that are no text, and paths that are too long, are looked at by the scan. */
function lstatOrNull(path: string): Stats | null {
  try {
    return lstatSync(path)
  } catch {
    return null
  }
}

function namesIn(path: string): readonly string[] {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}

const groups = findGroupPlaces()
const LEFT_MS = 2000

/** Processes, mounts, control groups and directories that are still there. */
async function leftovers(
  { sandboxes, disk }: Setting,
  id: string,
  output: Buffer,
  endedMs: number,
): Promise<readonly string[]> {
  const namespace = /^pid:\[\d+\]/m.exec(output.toString('latin1'))?.[0]
  const wrong: string[] = []
  if (namespace === undefined) wrong.push(`nothing ran: ${output.toString('latin1', 0, 500)}`)
  let living = survivors(namespace ?? '', endedMs)
  for (let waited = 0; living.length > 0 && waited < LEFT_MS; waited += 50) {
    await pause(50)
    living = survivors(namespace ?? '', endedMs)
  }
  wrong.push(...living.map((line) => `survived: ${line}`))
  for (const place of [groups.cpu, groups.memory, groups.processes]) {
    const group = place === null ? [] : namesIn(place).filter((name) => name.endsWith(id))
    wrong.push(...group.map((name) => `a group is left: ${name}`))
  }
  if (readFileSync('/proc/self/mountinfo', 'utf8').includes(id)) wrong.push('a mount is left')
  for (const place of namesIn(sandboxes)) {
    if (existsSync(join(sandboxes, place, id))) wrong.push('a working directory is left')
  }
  if (existsSync(join(disk, `${id}.upper`))) wrong.push('a layer is left')
  return wrong
}

const TICK_MS = 10

/** Processes in this namespace; its number may have a new owner, whose processes are younger. */
function survivors(namespace: string, endedMs: number): readonly string[] {
  const found: string[] = []
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (readlinkSync(`/proc/${pid}/ns/pid`) !== namespace) continue
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      const startedMs = Number(fields.slice(fields.lastIndexOf(')') + 2).split(' ')[19]) * TICK_MS
      if (startedMs < endedMs - TICK_MS) found.push(fields.slice(0, 80))
    } catch {
      // The process is gone, or belongs to another user.
    }
  }
  return found
}
