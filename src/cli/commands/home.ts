/** `writ home …`: the homes of this user on this machine. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { FaultError, fault, LEVEL, showName } from '../../base/index.ts'
import {
  knownHomeOf,
  type ListedHome,
  listHomes,
  namedHome,
  removeHome,
  unfinishedIn,
} from '../../home/index.ts'
import { surveyHome } from '../../service/index.ts'
import { exportBundle, readStoreSetting } from '../../store/index.ts'
import { counted, visible } from '../../words/index.ts'
import { type CommandCall, EXIT, type Exit, reply, usageError } from '../call/command.ts'
import {
  callerOf,
  refuseBelowAgent,
  refuseTokens,
  requireHuman,
  requireWholeHost,
  type Session,
  withLedger,
} from '../call/home.ts'
import { canAsk } from '../call/passphrase.ts'
import { reasonOf } from '../call/source.ts'
import { surroundings } from '../call/terminal.ts'
import { askLine } from '../gate/answer-line.ts'
import { homeInUse, withGatesOf } from '../gate/open.ts'
import { table } from '../history/text.ts'

/** `writ home list`: the homes of this user on this machine, and what is left of each. */
export async function list(call: CommandCall): Promise<Exit> {
  const around = surroundings()
  refuseTokens(around, 'listing homes')
  const homes = listHomes(around)
  const { terminal, options } = call
  if (options.isOn('json')) await terminal.out(`${JSON.stringify({ homes })}\n`)
  else if (homes.length === 0) await terminal.out('no homes here: `writ init` makes one\n')
  else {
    const rows = homes.map((home) => [
      home.id,
      stateWord(home),
      home.paths.map((path) => visible(path)).join(', '),
    ])
    await terminal.out(table(terminal, ['id', 'state', 'home'], rows))
  }
  return EXIT.yes
}

function stateWord({ has_state, has_workspace }: ListedHome): string {
  if (!has_state) return 'no ledger'
  return has_workspace ? 'in use' : 'workspace gone'
}

const WHAT = 'removing a home'

interface Loss {
  readonly facts: number
  readonly undoable: number
  readonly questions: number
}

/**
 * `writ home remove`: unregisters a home and removes its state for good: ledger, keys, bodies, undo.
 * Shows what is lost and asks first. The workspace and its laws stay.
 */
export async function remove(call: CommandCall): Promise<Exit> {
  const around = surroundings()
  const [named, ...others] = call.arguments
  if (others.length > 0) throw usage('name one home, by its path or its id')
  const listed = namedHome(around, named ?? call.options.text('home'))
  const loss = listed.has_state ? await releaseState(call, listed) : await releaseBare(call, listed)
  if (loss === null) {
    call.terminal.err('writ: nothing was removed\n')
    return EXIT.no
  }
  removeHome(around, listed)
  const { id, paths } = listed
  return reply(
    call,
    { removed: id, paths, lost: loss },
    (paint) =>
      `${paint.good('removed')}  ${id}  ${paths.map((path) => visible(path)).join(', ')}\n`,
  )
}

/** Returns what is lost when a person of this home agreed; null when they said no. */
async function releaseState(call: CommandCall, listed: ListedHome): Promise<Loss | null> {
  const around = surroundings()
  const home = knownHomeOf(listed)
  return withLedger(home, async (ledger, register) => {
    const session = { home, ledger, register, caller: callerOf(around, register, null) }
    requireWholeHost(session.caller, WHAT)
    refuseUnfinished(listed)
    const loss = await lossOf(call, session)
    if (!(await agrees(call, listed, loss))) return null
    await requireHuman(session, call, WHAT)
    await exportAll(call, session)
    return loss
  })
}

/** A registration without a state has no ledger that could know people. */
async function releaseBare(call: CommandCall, listed: ListedHome): Promise<Loss | null> {
  refuseTokens(surroundings(), WHAT)
  refuseBelowAgent(WHAT)
  const loss = { facts: 0, undoable: 0, questions: 0 }
  return (await agrees(call, listed, loss)) ? loss : null
}

function refuseUnfinished(listed: ListedHome): void {
  const ids = unfinishedIn(listed.state)
  if (!listed.has_workspace || ids.length === 0) return
  const message = 'a promotion in this home was interrupted and is not ended'
  const hint = '`writ recover` ends it; then remove the home'
  throw new FaultError(fault('promote.unrecovered', listed.state, { ids }, { message, hint }))
}

async function lossOf(call: CommandCall, session: Session): Promise<Loss> {
  const { store } = session.ledger
  let facts = 0
  for (const stream of await store.streams()) facts += (await store.head(stream))?.size ?? 0
  return withGatesOf(call, session, async (sessions) => {
    const { questions, undo } = await surveyHome(await homeInUse(sessions))
    const now = new Date().toISOString()
    const undoable = undo.filter(({ taken_back, until }) => !taken_back && until > now)
    return { facts, undoable: undoable.length, questions: questions.length }
  })
}

async function agrees(
  call: CommandCall,
  { paths, id, state }: ListedHome,
  loss: Loss,
): Promise<boolean> {
  const { terminal, options } = call
  const name = paths.length === 0 ? id : paths.map((path) => visible(path)).join(', ')
  const lines = [
    `This removes the home ${name} for good:`,
    `  ${counted(loss.facts, 'fact')} of its ledger, its keys and its stored outputs in ${visible(state)}`,
    `  ${counted(loss.undoable, 'action')} that can still be undone`,
    `  ${counted(loss.questions, 'waiting question')}`,
    ...serverLines(state),
    'The files of the workspace and its laws stay.',
  ]
  terminal.err(`${lines.join('\n')}\n`)
  if (options.isOn('yes')) return true
  if (!canAsk()) {
    throw usage('nothing was removed: without a terminal, add `--yes` to remove the home')
  }
  const line = await askLine('Remove it? [y/N] ')
  return typeof line === 'object' && /^y(?:es)?$/i.test(line.text.trim())
}

/** What lies on a PostgreSQL server is its owner's to drop. */
function serverLines(state: string): readonly string[] {
  const setting = readStoreSetting(state)
  if (setting.kind === 'sqlite') return []
  const drop = `DROP SCHEMA ${setting.schema} CASCADE`
  return [`The facts on the PostgreSQL server stay there; \`${drop}\` removes them.`]
}

/** One bundle for each stream. */
async function exportAll(call: CommandCall, { ledger }: Session): Promise<void> {
  const dir = call.options.text('export')
  if (dir === null) return
  makeFolder(dir)
  for (const stream of await ledger.store.streams()) {
    const to = join(dir, encodeURIComponent(stream))
    const { size } = await exportBundle(ledger, to, { stream, level: LEVEL, bodies: false })
    call.terminal.err(`exported ${showName(to)}, ${counted(size, 'fact')}\n`)
  }
}

function makeFolder(dir: string): void {
  try {
    mkdirSync(dir, { mode: 0o700 })
  } catch (error) {
    const reason = reasonOf(error)
    const message = `${showName(dir)} cannot be written (${reason}); nothing was removed`
    throw new FaultError(fault('cli.file_unwritable', dir, { file: dir, reason }, { message }))
  }
}

function usage(message: string): FaultError {
  return usageError(message, '`writ home remove --help`')
}
