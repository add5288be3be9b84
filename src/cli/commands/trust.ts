/**
 * `writ trust`, also `writ laws accept`: a human registers a home again, with the laws it has now, and
 * the ledger says so.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describeHome, findHome, recordLaws, registerHome, stateRoot } from '../../host/index.ts'
import { type Call, EXIT, type Exit } from '../command.ts'
import { callerOf, requireHuman, withLedger } from '../home.ts'
import { requireUsableLaws } from '../laws/usable-laws.ts'
import { surroundings } from '../surroundings.ts'

export async function run(call: Call): Promise<Exit> {
  const around = surroundings()
  const given = call.options.text('home')
  const directory = findHome(around, given)
  await requireUsableLaws(join(directory, 'laws.yaml'))
  const now = describeHome(directory)
  const state = join(stateRoot(around), now?.id ?? '')
  // Wherever the facts lie, the keys of a home that was made here lie in its state.
  if (now !== null && existsSync(join(state, 'keys'))) {
    const home = { directory, id: now.id, state }
    await withLedger(home, async (ledger, register) => {
      const caller = callerOf(around, register)
      await requireHuman({ home, ledger, register, caller }, call, 'registering laws')
      const { laws } = registerHome(around, given)
      const known = { ...home, laws, registeredLaws: laws }
      await recordLaws(known, ledger, caller.principal, Date.now())
    })
  }
  const { path, id, laws } = registerHome(around, given)
  const answer = { home: path, id, laws }
  await call.terminal.out(
    call.options.isOn('json')
      ? `${JSON.stringify(answer)}\n`
      : `${call.terminal.paint.good('registered')}  ${path}  ${call.terminal.paint.dim(laws)}\n`,
  )
  return EXIT.yes
}
