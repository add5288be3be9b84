/**
 * One task with a hidden effect, tried: that the effect is real without writ, that every way through
 * the gate finds it and leaves the tree alone, and that the honest twin goes through unasked.
 */
import { readdirSync, readlinkSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { treeListing } from '../tree/tree-hash.ts'
import type { Answer, Ground, Place, Run } from './ground.ts'
import { commandProposal } from './proposal.ts'
import { fileText, type HiddenTask, type PlantedPath } from './task.ts'

/** How the task was brought before the gate. */
export type Way = 'declared' | 'undeclared' | 'proposed'

export interface HiddenFinding {
  readonly id: string
  /** The effect happens without writ. */
  readonly isReal: boolean
  /** Per way: how it was decided; null when the effect was missed. */
  readonly found: Readonly<Partial<Record<Way, string | null>>>
  /** How the twin ended; null when it was let through unasked. */
  readonly twin: string | null
  /** Everything that is not as it should be. */
  readonly wrong: readonly string[]
}

export const WAYS: readonly Way[] = ['declared', 'undeclared', 'proposed']

export async function tryHidden(
  ground: Ground,
  task: HiddenTask,
  ways: readonly Way[],
): Promise<HiddenFinding> {
  const listener = await Listener.open()
  try {
    const bare = await isReal(ground, task, listener)
    const place = await makeProject(ground, task, true, listener)
    const before = treeListing(place.home)
    const wrong = [...bare]
    const found: Partial<Record<Way, string | null>> = {}
    for (const way of ways) {
      const faults = await lookAt(ground, task, way, place, listener)
      const changed = changedPaths(before, treeListing(place.home))
      const all = [...faults.wrong, ...changed.map((path) => `the tree was changed: ${path}`)]
      found[way] = all.length === 0 ? faults.how : null
      wrong.push(...all.map((fault) => `${way}: ${fault}`))
    }
    ground.remove(place)
    const twin = await tryTwin(ground, task, ways, listener)
    return {
      id: task.id,
      isReal: bare.length === 0,
      found,
      twin,
      wrong: [...wrong, ...(twin === null ? [] : [`the honest twin: ${twin}`])],
    }
  } finally {
    listener.close()
  }
}

export async function makeProject(
  ground: Ground,
  task: HiddenTask,
  isPlanted: boolean,
  { port }: Listener,
): Promise<Place> {
  const place = ground.makeHome()
  for (const [name, text] of Object.entries(task.files)) {
    const path = pathIn(place, name)
    ground.write(path, fileText(text, isPlanted).replaceAll('{port}', String(port)))
  }
  await ground.own(place.home)
  if (task.before !== undefined) await ground.prepare(place, task.before)
  // An agent is asked about files whose old bytes git does not have.
  await ground.prepare(place, '[ -e .git ] || { git init -q; git add -A; git commit -qm start; }')
  return place
}

function pathIn({ home, project }: Place, name: string): string {
  return name.startsWith('~/') ? join(home, name.slice(2)) : join(project, name)
}

/** What is wrong with the plant itself, seen in a run without writ in a home of its own. */
async function isReal(
  ground: Ground,
  task: HiddenTask,
  listener: Listener,
): Promise<readonly string[]> {
  const place = await makeProject(ground, task, true, listener)
  const before = treeListing(place.home, { times: false, directoryTimes: false })
  const { status, err } = await ground.bare(place, task.command)
  const after = treeListing(place.home, { times: false, directoryTimes: false })
  const wrong = status === 0 ? [] : [`ended with ${status} without writ: ${err}`]
  wrong.push(...(await missingEffects(task, place, before, after, listener)))
  ground.remove(place)
  return wrong.map((fault) => `bare: ${fault}`)
}

type Listing = ReadonlyMap<string, string>

export async function missingEffects(
  { plant }: HiddenTask,
  place: Place,
  before: Listing,
  after: Listing,
  listener: Listener,
): Promise<readonly string[]> {
  if (plant.kind === 'sending') {
    return (await listener.takeBytes()) > 0 ? [] : ['nothing was sent']
  }
  if (plant.kind === 'process') {
    const left = processesIn(place.home)
    for (const pid of left) process.kill(pid, 'SIGKILL')
    return left.length > 0 ? [] : ['no process was left']
  }
  return plant.paths
    .filter(({ path, change }) => {
      const name = pathIn(place, path).slice(place.home.length + 1)
      return happened(before.get(name), after.get(name)) !== change
    })
    .map(({ path, change }) => `${path} was not ${change}`)
}

function happened(before: string | undefined, after: string | undefined): string | null {
  if (before === after) return null
  if (before === undefined) return 'added'
  if (after === undefined) return 'deleted'
  // The first word of a line is the kind of the entry.
  return before.split(' ')[0] === after.split(' ')[0] ? 'modified' : 'replaced'
}

/** Processes whose current directory lies in the home. */
function processesIn(home: string): readonly number[] {
  return readdirSync('/proc').flatMap((name) => {
    const pid = Number(name)
    if (!Number.isInteger(pid)) return []
    try {
      return readlinkSync(`/proc/${name}/cwd`).startsWith(`${home}/`) ? [pid] : []
    } catch {
      // Ended meanwhile.
      return []
    }
  })
}

function changedPaths(before: Listing, after: Listing): readonly string[] {
  const names = new Set([...before.keys(), ...after.keys()])
  return [...names].filter((name) => before.get(name) !== after.get(name))
}

interface Look {
  readonly how: string
  readonly wrong: readonly string[]
}

async function lookAt(
  ground: Ground,
  task: HiddenTask,
  way: Way,
  place: Place,
  listener: Listener,
): Promise<Look> {
  if (task.code === 'promote.ok') return lookAtRefused(ground, task, way, listener)
  const run = await through(ground, task, way, place, listener)
  const { answer } = run
  if (answer === null) return { how: '', wrong: [`no answer: ${run.out}${run.err}`] }
  const { decision, code } = answer.decision
  const how = `${decision === 'BLOCK' ? 'blocked' : 'asked'} ${code}`
  const wrong = answer.promoted || decision === 'PROMOTE' ? ['it was let through'] : []
  if (way !== 'undeclared' && !answer.decision.codes.includes(task.code)) {
    wrong.push(`decided by ${answer.decision.codes.join(' ')}, not ${task.code}`)
  }
  if ((await listener.takeBytes()) > 0) wrong.push('somebody was reached')
  return { how, wrong: [...wrong, ...unseen(task, way, place, answer, run)] }
}

function through(
  ground: Ground,
  task: HiddenTask,
  way: Way,
  place: Place,
  { port }: Listener,
): Promise<Run> {
  const { command, declared, network } = task
  const hosts = network === true ? [`127.0.0.1:${port}`] : []
  if (way === 'proposed') {
    return ground.propose(place, commandProposal(place, command, declared, hosts))
  }
  const options = [...hosts.flatMap((host) => ['--net', host])]
  return ground.exec(
    place,
    way === 'declared' ? [...options, ...optionsOf(task)] : options,
    command,
  )
}

function optionsOf({ declared: { write = [], delete: remove = [] } }: HiddenTask): string[] {
  return [
    ...write.flatMap((glob) => ['--write', glob]),
    ...remove.flatMap((glob) => ['--delete', glob]),
  ]
}

/** Checks that a run without a network gets an answer and does not reach the listener. */
async function lookAtRefused(
  ground: Ground,
  task: HiddenTask,
  way: Way,
  listener: Listener,
): Promise<Look> {
  const place = await makeProject(ground, task, true, listener)
  const { answer, err } = await through(ground, task, way, place, listener)
  ground.remove(place)
  const wrong = answer === null ? [`no answer: ${err}`] : []
  if ((await listener.takeBytes()) > 0) wrong.push('somebody was reached')
  return { how: 'refused', wrong }
}

const UNWANTED = ['effect.undeclared', 'effect.out_of_scope', 'effect.privileged']
const DEFERRED = 'effect.deferred_execution'

function unseen(
  { plant }: HiddenTask,
  way: Way,
  place: Place,
  answer: Answer,
  { err }: Run,
): readonly string[] {
  const findings = answer.result?.findings ?? []
  if (plant.kind === 'sending') {
    const isTold = findings.some(({ code }) => code === 'effect.irreversible')
    const isShown = way === 'proposed' || err.includes('POST 127.0.0.1')
    return isTold && isShown ? [] : ['the request was not shown']
  }
  if (plant.kind === 'process') return []
  const wrong = plant.paths.flatMap((planted) => unseenPath(planted, way, place, answer, err))
  const known = [...plant.paths.map(({ path }) => path), ...(plant.also ?? [])]
  const patterns = known.map((glob) => globPattern(pathIn(place, glob)))
  const noise = findings.filter(
    ({ code, path = '' }) =>
      UNWANTED.includes(code) && !patterns.some((pattern) => pattern.test(path)),
  )
  wrong.push(...noise.map(({ code, path }) => `${code} about ${path}, which is not planted`))
  return way === 'proposed' ? wrong : [...wrong, ...disorder(err)]
}

function unseenPath(
  { path: name, change, defers }: PlantedPath,
  way: Way,
  place: Place,
  { result }: Answer,
  err: string,
): readonly string[] {
  const path = pathIn(place, name)
  const findings = (result?.findings ?? []).filter((finding) => finding.path === path)
  const codes = findings.map(({ code }) => code)
  const isListed = (list: 'added' | 'modified' | 'deleted'): boolean =>
    result?.diff[list].some((entry) => entry.path === path) === true
  const isTold =
    change === 'replaced'
      ? isListed('modified') || (isListed('deleted') && isListed('added'))
      : isListed(change)
  // A person's undeclared run leaves it out, says so, and keeps nothing of it.
  if (way === 'undeclared' && codes.includes('effect.left_out')) return []
  const wrong = isTold ? [] : [`${name} is not listed as ${change}`]
  const isNamed =
    way === 'undeclared' || [...UNWANTED, DEFERRED].some((code) => codes.includes(code))
  if (!isNamed) wrong.push(`no finding names ${name}`)
  if (defers === true && !codes.includes(DEFERRED)) wrong.push(`${name} is not told to act later`)
  if (way !== 'proposed' && !err.includes(path)) wrong.push(`${name} was not shown`)
  return wrong
}

/** Deletions stand before everything else that is shown. */
function disorder(err: string): readonly string[] {
  const signs = [...err.matchAll(/^ {2}([-~+]) \//gm)].map(([, sign]) => sign)
  const lastDeletion = signs.lastIndexOf('-')
  const firstOther = signs.findIndex((sign) => sign !== '-')
  const isInOrder = firstOther === -1 || lastDeletion < firstOther
  return isInOrder ? [] : ['a deletion is shown after something else']
}

/** A glob of this corpus: a star within a name, two across names, `d/**` holds `d`. */
function globPattern(glob: string): RegExp {
  const text = glob.replace(/[.+^${}()|[\]\\]/g, '\\$&')
  const body = text
    .replace(/\/\*\*$/, '(?:/@@)?')
    .replaceAll('*', '[^/]*')
    .replaceAll('@@', '.*')
  return new RegExp(`^${body}$`)
}

/** The twin by the doors at which effects are declared; null when it is let through unasked. */
async function tryTwin(
  ground: Ground,
  task: HiddenTask,
  ways: readonly Way[],
  listener: Listener,
): Promise<string | null> {
  for (const way of ways) {
    if (way === 'undeclared') continue
    const place = await makeProject(ground, task, false, listener)
    const { answer, out, err } = await through(ground, task, way, place, listener)
    ground.remove(place)
    if (answer?.promoted === true && answer.decision.decision === 'PROMOTE') continue
    return `${way}: ${answer?.decision.codes.join(' ')} ${out}${err}`
  }
  return null
}

/** Listens on this machine and counts what comes. */
export class Listener {
  readonly port: number
  readonly #server: Server
  #bytes = 0

  private constructor(server: Server, port: number) {
    this.#server = server
    this.port = port
    server.on('connection', (socket) => {
      socket.on('error', () => undefined)
      socket.on('data', (piece) => {
        this.#bytes += piece.length
        socket.end('HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n')
      })
    })
  }

  static async open(): Promise<Listener> {
    const server = createServer()
    await new Promise<void>((resolved) => server.listen(0, '127.0.0.1', resolved))
    const address = server.address()
    return new Listener(server, typeof address === 'object' ? (address?.port ?? 0) : 0)
  }

  /** What came since the last time; what is under way has a moment. */
  async takeBytes(): Promise<number> {
    await pause(50)
    const bytes = this.#bytes
    this.#bytes = 0
    return bytes
  }

  close(): void {
    this.#server.close()
  }
}
