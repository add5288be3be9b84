/**
 * `writ trust`, also `writ laws accept`: a human registers a home again, with the laws it has now, and
 * the ledger says so. Laws that change something are shown first, and a person says yes to them.
 */
import { join } from 'node:path'
import { faultError } from '../../base/index.ts'
import {
  type Home,
  homeToRegister,
  lawsOf,
  registerHome,
  type Surroundings,
} from '../../home/index.ts'
import type { Principal } from '../../ledger/index.ts'
import { acceptedLaws, lawsChange, recordLaws } from '../../service/index.ts'
import type { Ledger } from '../../store/index.ts'
import { type CommandCall, EXIT, type Exit, reply } from '../call/command.ts'
import { requireHumans } from '../call/endorsing.ts'
import { callerOf, requireHuman, requireWholeHost, withLedger } from '../call/home.ts'
import { surroundings } from '../call/terminal.ts'
import { agreesToLaws, lawsToAccept, type ReadLaws } from '../laws/acceptance.ts'

const WHAT = 'registering laws'

export async function run(call: CommandCall): Promise<Exit> {
  const around = surroundings()
  const home = homeToRegister(around, call.options.text('home'))
  const read = await lawsToAccept(join(home.directory, 'laws.yaml'))
  refuseOthers(read, call.options.text('digest'))
  const answer = await withLedger(home, async (ledger, register) => {
    const caller = callerOf(around, register, null)
    requireWholeHost(caller, WHAT)
    if (!(await agreesToLaws(call, await acceptedLaws(ledger), read))) return null
    const change = await lawsChange(ledger, read.digest)
    const session = { home, ledger, register, caller }
    if (change === null) await requireHuman(session, call, WHAT)
    else await requireHumans(session, call, WHAT, change)
    return acceptRead(around, home, ledger, caller.principal, read)
  })
  const { terminal } = call
  if (answer === null) {
    terminal.err('not accepted: the laws that were accepted before stay in force\n')
    return EXIT.no
  }
  return reply(
    call,
    answer,
    (paint) => `${paint.good('registered')}  ${answer.home}  ${paint.dim(answer.laws)}\n`,
  )
}

/** Fails if the person was shown other bytes than the file has. */
function refuseOthers({ file, digest }: ReadLaws, seen: string | null): void {
  if (seen === null || seen === digest) return
  const message = 'the law file is not the one that was shown, so nothing was accepted'
  throw faultError('api.digest_moved', file, message, 'look again: `writ laws check`')
}

/** Registers the laws that were shown, and records them. */
export async function acceptRead(
  around: Surroundings,
  home: Home,
  ledger: Ledger,
  principal: Principal,
  read: ReadLaws,
): Promise<{ readonly home: string; readonly id: string; readonly laws: string }> {
  if (lawsOf(home.directory) !== read.digest) {
    const message = 'the law file changed while you read what it changes, so nothing was accepted'
    throw faultError('laws.changed', read.file, message, 'run `writ laws accept` again')
  }
  const { path, id, laws, layered = false } = registerHome(around, home, read.digest)
  await recordLaws({ ...home, laws, registeredLaws: laws, layered }, ledger, principal, Date.now())
  return { home: path, id, laws }
}
