/** `writ home list`: the homes of this user on this machine, and what is left of each. */
import { type ListedHome, listHomes } from '../../home/index.ts'
import { type CommandCall, EXIT, type Exit } from '../call/command.ts'
import { refuseTokens } from '../call/home.ts'
import { surroundings } from '../call/surroundings.ts'
import { visible } from '../effects/visible.ts'
import { table } from '../history/text.ts'

export async function run(call: CommandCall): Promise<Exit> {
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
