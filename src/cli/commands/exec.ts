/**
 * `writ exec`: runs any command under the gate. The command's output and status are its own; what
 * it would change is shown, asked about and only then made real.
 */
import { randomBytes } from 'node:crypto'
import { homedir } from 'node:os'
import { fault, showName, uuidV7 } from '../../base/index.ts'
import { hostPort, showHostPort } from '../../gate/index.ts'
import {
  createDriver,
  type KnownHome,
  likelyRequest,
  openKnownHome,
  stagePlaces,
  stateRoot,
  waitForRemovals,
} from '../../host/index.ts'
import { type Call, type OwnStatus, Stop } from '../command.ts'
import type { ExecRequest } from '../gate/exec-proposal.ts'
import { absoluteGlob, execScope } from '../gate/exec-scope.ts'
import { prepareReport } from '../gate/report-file.ts'
import { surroundings } from '../surroundings.ts'

/**
 * The sandbox is begun before anything else is read, since it starts beside us: most of the program is
 * loaded while it does.
 */
export async function run(call: Call): Promise<OwnStatus> {
  const request = readRequest(call)
  const home = openKnownHome(surroundings(), call.options.text('home'))
  const driver = createDriver({ disks: stagePlaces(home), keepsPipes: true })
  // With a network another sandbox is made than the usual one.
  if (request.hosts.length === 0) driver.anticipate(likely(request, home))
  waitForRemovals()
  const { carryOut } = await import('../gate/exec-run.ts')
  return carryOut(call, request, { home, driver })
}

/** Most runs are of this kind; another one is made when it is asked for. */
function likely({ actionId, scope, resources }: ExecRequest, home: KnownHome) {
  const around = surroundings()
  const order = { sandboxId: actionId, home, stateRoot: stateRoot(around), roots: scope, resources }
  return likelyRequest(order, around.userDirectory)
}

/** Bounds that an ordinary build or install does not reach. */
const RESOURCES: ExecRequest['resources'] = {
  max_cpu_ms: 3_600_000,
  max_memory_mb: 4_096,
  max_disk_mb: 4_096,
  max_duration_ms: 3_600_000,
}

function readRequest(call: Call): ExecRequest {
  const { options } = call
  const [program, ...rest] = call.arguments
  if (program === undefined || program === '') {
    const message = 'no command is named'
    throw new Stop(fault('cli.usage', '', null, { message, hint: 'writ exec -- CMD …' }))
  }
  if (options.isOn('json')) {
    const message = 'standard output belongs to the command'
    const hint = 'the answer goes to a file with `--report FILE`'
    throw new Stop(fault('cli.usage', '', null, { message, hint }))
  }
  const report = options.text('report')
  if (report !== null) prepareReport(report)
  const cwd = process.cwd()
  const nowMs = Date.now()
  return {
    actionId: uuidV7(nowMs, randomBytes(10)),
    createdAt: new Date(nowMs).toISOString(),
    argv: [program, ...rest],
    cwd,
    scope: execScope(options.texts('scope'), { cwd, home: homedir() }),
    write: options.texts('write').map((glob) => absoluteGlob(glob, cwd)),
    remove: options.texts('delete').map((glob) => absoluteGlob(glob, cwd)),
    resources: RESOURCES,
    hosts: readHosts(options.texts('net')),
  }
}

/** Each host in the one spelling that a scope has for it. */
function readHosts(texts: readonly string[]): readonly string[] {
  return texts.map((text) => {
    const read = hostPort(text)
    if (read !== null) return showHostPort(read.name, read.port)
    const message = `${showName(text)} is not a host, or a host and a port`
    throw new Stop(fault('cli.usage', '', null, { message, hint: '--net registry.npmjs.org' }))
  })
}
