/**
 * `writ ledger key`: the public key under which checkpoints are signed now. Kept outside this machine
 * it is what `writ ledger verify --key` pins: a history signed by another key does not pass then.
 */
import { join } from 'node:path'
import { openHome, readPublicKeys } from '../../host/index.ts'
import { type Call, EXIT, type Exit } from '../command.ts'
import { surroundings } from '../surroundings.ts'

export async function run({ options, terminal }: Call): Promise<Exit> {
  const { state } = openHome(surroundings(), options.text('home'))
  const { current: public_key, earlier } = readPublicKeys(join(state, 'keys'))
  await terminal.out(
    options.isOn('json') ? `${JSON.stringify({ public_key, earlier })}\n` : `${public_key}\n`,
  )
  return EXIT.yes
}
