/** `writ flow list`: the runs, the newest first, by state, flow and time. */
import { faultError, nearest, showName } from '../../base/index.ts'
import type { RunStatus } from '../../flow/index.ts'
import { lookAtRun, type RunHead, runHeads } from '../../runs/index.ts'
import { type CommandCall, EXIT, type Exit, usageError } from '../call/command.ts'
import { type ReadSession, streamToRead, withHistory } from '../call/home.ts'
import { statusWord } from '../flow/answer.ts'
import { passWhenRead } from '../flow/passed.ts'
import { moreText, queuedAnswer, queuedRuns } from '../flow/queued.ts'
import { momentOption, numberOption } from '../history/option-values.ts'
import { plain, table } from '../history/text.ts'

const STATUSES: readonly (RunStatus | 'QUEUED')[] = [
  'QUEUED',
  'RUNNING',
  'WAITING',
  'BLOCKED',
  'DONE',
  'FAILED',
  'CANCELLED',
]
const LIMIT = 50
const LIMIT_MAX = 10_000

export async function run(call: CommandCall): Promise<Exit> {
  if (call.arguments.length > 0) throw usageError('it takes options only', 'writ flow list --help')
  const wanted = statusesOf(call)
  return withHistory(call, async (session) => {
    await passWhenRead(call, session, null)
    const runs = await listedRuns(session, call, wanted)
    const queue = await queuedIn(session, call, wanted)
    const waiting = queue.rows
    const { terminal, options } = call
    if (options.isOn('json'))
      await terminal.out(`${JSON.stringify({ runs, ...queuedAnswer(queue) })}\n`)
    else if (runs.length + waiting.length === 0)
      await terminal.out('no run found: writ flow run FLOW begins one\n')
    else {
      const queued = waiting.map(({ title, finding, flow_id, run_id }) => [
        plain(title),
        statusWord('QUEUED', terminal.paint),
        '',
        plain(finding),
        plain(flow_id),
        run_id,
      ])
      const heads = ['title', 'status', 'age', 'began', 'flow', 'run']
      const rows = runs.map(({ title, status, age, started_at, flow_id, run_id }) => [
        plain(title),
        statusWord(status, terminal.paint),
        age,
        started_at,
        plain(flow_id),
        run_id,
      ])
      await terminal.out(`${table(terminal, heads, [...queued, ...rows])}${moreText(queue.more)}`)
    }
    return EXIT.yes
  })
}

/** Runs that wait for a worker to begin them: they have no fact, and so no age. */
async function queuedIn(
  session: ReadSession,
  call: CommandCall,
  wanted: ReadonlySet<string> | null,
) {
  if (wanted !== null && !wanted.has('QUEUED')) return { rows: [], more: 0 }
  const flowName = call.options.text('flow')
  const { rows, more } = await queuedRuns(session, await streamToRead(session, call))
  const named = rows.filter(({ flow_id }) => flowName === null || flow_id === flowName)
  return { rows: named, more }
}

function statusesOf({ options }: CommandCall): ReadonlySet<string> | null {
  const given = options.text('status')
  if (given === null) return null
  const words = given.split(',').map((word) => word.trim().toUpperCase())
  const unknown = words.find((word) => !STATUSES.some((status) => status === word))
  if (unknown === undefined) return new Set(words)
  const near = nearest(unknown, STATUSES)
  const hint = near === null ? STATUSES.join(', ') : `did you mean ${near}?`
  throw faultError('cli.usage', unknown, `no run has the status ${showName(unknown)}`, hint)
}

async function listedRuns(
  session: ReadSession,
  call: CommandCall,
  wanted: ReadonlySet<string> | null,
) {
  const stream = await streamToRead(session, call)
  const { home, ledger } = session
  const nowMs = Date.now()
  const since = momentOption(call, 'since', nowMs) ?? ''
  const most = numberOption(call, 'limit', LIMIT_MAX) ?? LIMIT
  const flowName = call.options.text('flow')
  const found = []
  for await (const head of runHeads(ledger, stream)) {
    if (head.started_at < since || found.length >= most) break
    if (flowName !== null && head.flow_id !== flowName) continue
    const { status, flow } = await lookAtRun({ home, ledger, stream }, head.run_id)
    if (wanted !== null && !wanted.has(status)) continue
    found.push(rowOf(head, status, flow.document.title, nowMs))
  }
  return found
}

function rowOf(head: RunHead, status: RunStatus, title: string, nowMs: number) {
  const { run_id, flow_id, started_at, workspace } = head
  const age = ageText(nowMs - Date.parse(started_at))
  return { run_id, title: title || flow_id, flow_id, status, started_at, age, workspace }
}

const AGES = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'm'],
  [1_000, 's'],
] as const

/** The largest unit that fits, as `--since` takes it. */
function ageText(ms: number): string {
  const [size, unit] = AGES.find(([one]) => ms >= one) ?? [1_000, 's']
  return `${Math.max(0, Math.floor(ms / size))}${unit}`
}
