/**
 * `writ task list`: the tasks of a stream, newest first, page by page, with what their receipts say so
 * far. The receipts of each task are found through the index, so a page takes as long in a long history
 * as in a short one.
 */
import { faultCode, showName } from '../../base/index.ts'
import { field } from '../../contracts/index.ts'
import { allFacts, findTask, openFact } from '../../history/index.ts'
import {
  areContradictory,
  type DispatchView,
  dispatchView,
  type Fact,
  type OpenedFact,
  type Page,
  type Principal,
  parsePrincipal,
  type TaskStatus,
  taskStatus,
} from '../../ledger/index.ts'
import type { LedgerReader } from '../../store/index.ts'
import { type CommandCall, EXIT, type Exit, usageError } from '../call/command.ts'
import { streamToRead, withHistory } from '../call/home.ts'
import { LIMIT, LIMIT_MAX, numberOption } from '../history/option-values.ts'
import { table } from '../history/text.ts'

interface TaskRow {
  readonly act_task_id: string
  readonly seq: number
  /** Null if the body that holds the task is damaged or gone. */
  readonly action_type: string | null
  readonly receipts: number
  /** `damaged`: a body that the task or a receipt lies in is not the one that its fact names. */
  readonly status: TaskStatus | 'damaged'
  /** One receipt says executed, another one not_executed. */
  readonly contradictory: boolean
  /** Where it is on its way to its device; null for a task that is for none. */
  readonly dispatch: DispatchView | null
}

/** What is asked for. */
interface Listing {
  readonly stream: string
  readonly limit: number
  readonly onlyOpen: boolean
  readonly device: Principal | null
  readonly order: 'newest_first' | 'oldest_first'
}

const PAGE = 50
/** Tasks that one call looks at when it has to leave some out; the next page goes on. */
const LOOKED_AT_MAX = 1_000

export async function run(call: CommandCall): Promise<Exit> {
  return withHistory(call, async (session) => {
    const { options } = call
    const listing: Listing = {
      stream: await streamToRead(session, call),
      limit: numberOption(call, 'limit', LIMIT_MAX) ?? LIMIT,
      onlyOpen: options.isOn('open'),
      device: deviceOption(call),
      order: options.isOn('oldest') ? 'oldest_first' : 'newest_first',
    }
    const after = numberOption(call, 'after', Number.MAX_SAFE_INTEGER)
    const { rows, next } = await list(session.ledger, listing, after ?? null)
    await tell(call, rows, next)
    return EXIT.yes
  })
}

function deviceOption(call: CommandCall): Principal | null {
  const text = call.options.text('device')
  if (text === null) return null
  const principal = parsePrincipal(text.startsWith('device:') ? text : `device:${text}`)
  if (principal !== null) return principal
  throw usageError(`${showName(text)} is no device`, '--device pump-3@farm')
}

async function list(
  ledger: LedgerReader,
  listing: Listing,
  after: number | null,
): Promise<{ readonly rows: readonly TaskRow[]; readonly next: number | null }> {
  const rows: TaskRow[] = []
  const seen = new Set<string>()
  let [cursor, lookedAt] = [after, 0]
  for (;;) {
    const page = await pageOf(ledger, listing, cursor)
    for (const [at, { seq, text }] of page.facts.entries()) {
      const row = await rowOf(ledger, listing, text, seen)
      lookedAt++
      if (row !== null && (!listing.onlyOpen || isOpen(row))) rows.push(row)
      const isLast = at === page.facts.length - 1 && page.next === null
      if (rows.length < listing.limit && lookedAt < LOOKED_AT_MAX) continue
      return { rows, next: isLast ? null : seq }
    }
    if (page.next === null) return { rows, next: null }
    cursor = page.next
  }
}

/** No receipt yet, and its device may still begin it, or begun it and is not heard. */
function isOpen({ status, dispatch }: TaskRow): boolean {
  return status === 'open' && dispatch?.state !== 'withdrawn' && dispatch?.state !== 'silent'
}

/** Facts that lead to a task each: the task itself, or a receipt of the device. */
function pageOf(
  { store }: LedgerReader,
  { stream, device, limit, order }: Listing,
  cursor: number | null,
): Promise<Page> {
  return store.find({
    stream,
    type: device === null ? 'ao_act_task_v0' : 'ao_act_receipt_v0',
    ...(device === null ? {} : { principal: device }),
    ...(cursor === null ? {} : { cursor }),
    limit: Math.min(Math.max(limit, PAGE), 500),
    order,
  })
}

/** Null when the task was listed before: a device gives several receipts for one. */
async function rowOf(
  ledger: LedgerReader,
  { stream, device }: Listing,
  text: string,
  seen: Set<string>,
): Promise<TaskRow | null> {
  const fact = await opened(ledger, text)
  const id = String(field(fact.payload, 'act_task_id') ?? fact.record.refs?.['task'] ?? '')
  if (seen.has(id)) return null
  seen.add(id)
  const task = device === null ? fact : await findTask(ledger, stream, id).catch(damagedTask)
  return taskRow(ledger, stream, id, task ?? fact)
}

async function taskRow(
  ledger: LedgerReader,
  stream: string,
  id: string,
  task: OpenedFact,
): Promise<TaskRow> {
  const base = { act_task_id: id, seq: task.seq }
  const action = field(task.payload, 'action_type')
  const action_type = typeof action === 'string' ? action : null
  try {
    const facts = await allFacts(ledger, { stream, task: id })
    const found = facts.filter(({ record }) => record.type === 'ao_act_receipt_v0')
    const payloads = found.map(({ payload }) => payload)
    const isDamaged = task.payload === null || payloads.includes(null)
    const status = isDamaged ? 'damaged' : taskStatus(payloads)
    const contradictory = areContradictory(payloads)
    const dispatch = dispatchView(facts, Date.now())
    return { ...base, action_type, receipts: found.length, status, contradictory, dispatch }
  } catch (error) {
    if (!isAltered(error)) throw error
    const none = { receipts: 0, contradictory: false, dispatch: null }
    return { ...base, action_type, status: 'damaged', ...none }
  }
}

/** A fact whose body was altered is listed without it. */
async function opened(ledger: LedgerReader, text: string): Promise<OpenedFact> {
  try {
    return await openFact(ledger, text)
  } catch (error) {
    if (!isAltered(error)) throw error
    return { ...(JSON.parse(text) as Fact), payload: null } // `openFact` has read it as a fact.
  }
}

function damagedTask(error: unknown): null {
  if (isAltered(error)) return null
  throw error
}

function isAltered(error: unknown): boolean {
  return faultCode(error) === 'body.altered'
}

async function tell(
  { options, terminal }: CommandCall,
  tasks: readonly TaskRow[],
  next: number | null,
): Promise<void> {
  if (options.isOn('json')) {
    const answer = next === null ? { tasks } : { tasks, next }
    return terminal.out(`${JSON.stringify(answer)}\n`)
  }
  const rows = tasks.map((row) => [
    row.act_task_id,
    row.action_type ?? '-',
    String(row.receipts),
    row.contradictory ? `${row.status}, contradictory` : row.status,
    row.dispatch?.device ?? '-',
    row.dispatch?.state ?? '-',
  ])
  await terminal.out(
    table(terminal, ['task', 'action', 'receipts', 'status', 'device', 'dispatch'], rows),
  )
  if (next !== null) terminal.err(`more: --after ${next}\n`)
}
