/**
 * `writ trust`, also `writ laws accept`: a human registers a home again, with the laws it has now, and
 * the ledger says so.
 */
import { join } from 'node:path'
import { homeToRegister, recordLaws, registerHome } from '../../host/index.ts'
import { type Call, EXIT, type Exit } from '../command.ts'
import { callerOf, requireHuman, withLedger } from '../home.ts'
import { requireUsableLaws } from '../laws/usable-laws.ts'
import { surroundings } from '../surroundings.ts'

export async function run(call: Call): Promise<Exit> {
  const around = surroundings()
  const home = homeToRegister(around, call.options.text('home'))
  await requireUsableLaws(join(home.directory, 'laws.yaml'))
  const answer = await withLedger(home, async (ledger, register) => {
    const caller = callerOf(around, register)
    await requireHuman({ home, ledger, register, caller }, call, 'registering laws')
    const registered = registerHome(around, home)
    const { laws, layered = false } = registered
    const known = { ...home, laws, registeredLaws: laws, layered }
    await recordLaws(known, ledger, caller.principal, Date.now())
    return { home: registered.path, id: registered.id, laws }
  })
  await call.terminal.out(
    call.options.isOn('json')
      ? `${JSON.stringify(answer)}\n`
      : `${call.terminal.paint.good('registered')}  ${answer.home}  ${call.terminal.paint.dim(answer.laws)}\n`,
  )
  return EXIT.yes
}
