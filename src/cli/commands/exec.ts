/**
 * `writ exec`: runs any command under the gate. The command's output and status are its own; what
 * it would change is shown, asked about and only then made real.
 */
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { fault, showName, uuidV7 } from '../../base/index.ts'
import { hostPort, showHostPort } from '../../gate/index.ts'
import {
  type GateAnswer,
  type KnownHome,
  likelyRequest,
  stateRoot,
  within,
} from '../../host/index.ts'
import { type Call, type OwnStatus, Stop } from '../command.ts'
import { answerLines } from '../gate/answer-text.ts'
import { execConfirm, settleChangedInputs } from '../gate/confirm.ts'
import { type ExecRequest, execProposal, isDeclaredByApproval } from '../gate/exec-proposal.ts'
import { absoluteGlob, execScope } from '../gate/exec-scope.ts'
import { Live } from '../gate/live.ts'
import { type GateSession, withGate } from '../gate/open.ts'
import { PromptCount } from '../gate/prompt-count.ts'
import { releaseBefore } from '../gate/release.ts'
import { execEnd } from '../gate/status.ts'
import { surroundings } from '../home.ts'

export async function run(call: Call): Promise<OwnStatus> {
  const request = readRequest(call)
  const work = async (session: GateSession) => {
    const resources = within(request.resources, session.gate.ceilings)
    const answer = await runLive(session, { ...request, resources })
    const { status, code } = execEnd(answer)
    if (code !== null) explain(call, answer, code)
    return status
  }
  // With a network another sandbox is made than the usual one.
  const isLikely = request.hosts.length === 0
  return withGate(call, work, (home, driver) => {
    if (isLikely) driver.anticipate(likely(request, home))
  })
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

async function runLive(session: GateSession, request: ExecRequest): Promise<GateAnswer> {
  const proposal = execProposal(request)
  // Before anything runs, and while the terminal is still ours.
  if (request.hosts.length > 0) await releaseBefore(session, proposal)
  const live = new Live()
  const prompts = new PromptCount()
  const confirm = prompts.counting(execConfirm(session, live))
  try {
    const first = await session.gate.propose(proposal, {
      door: 'exec',
      declaredByApproval: isDeclaredByApproval(request),
      dryRun: false,
      confirm,
      live: live.run(),
      abort: live.abort.signal,
    })
    const answer = await settleChangedInputs(session.gate, first, confirm)
    report(session.call, { ...answer, prompts: prompts.asked })
    return answer
  } finally {
    live.end()
  }
}

function report({ options }: Call, answer: GateAnswer & { readonly prompts: number }): void {
  const file = options.text('report')
  if (file === null) return
  try {
    writeFileSync(file, `${JSON.stringify(answer)}\n`)
  } catch (thrown) {
    const reason = (thrown as NodeJS.ErrnoException).code ?? 'unknown reason'
    const message = `the report ${file} cannot be written (${reason})`
    throw new Stop(fault('cli.file_unwritable', file, { file, reason }, { message }))
  }
}

/** On standard error, which is ours as soon as the status is; the last line is the code alone. */
function explain({ terminal }: Call, answer: GateAnswer, code: string): void {
  const lines = answerLines(answer, terminal.paintError, false)
  const wasAsked = answer.decision.decision === 'CONFIRM' && answer.pending === undefined
  // Whoever was asked has just seen everything.
  if (wasAsked) lines.splice(1)
  terminal.err(`${lines.join('\n')}\nwrit: ${code}\n`)
}
