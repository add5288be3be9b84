/** `writ ledger prove SEQ`: the path from one fact to the root of the newest signed checkpoint. */
import { faultError, showName } from '../../base/index.ts'
import { type FactProof, proveFact } from '../../ledger/index.ts'
import { type CommandCall, EXIT, type Exit } from '../call/command.ts'
import { type ReadSession, streamToRead, withHistory } from '../call/home.ts'
import { usageError } from '../call/usage.ts'

export async function run(call: CommandCall): Promise<Exit> {
  const [text = '', ...others] = call.arguments
  if (!/^\d{1,15}$/.test(text) || others.length > 0) {
    throw usageError('name one fact by its seq', 'writ ledger prove 12')
  }
  return withHistory(call, async (session) => {
    const stream = await streamToRead(session, call)
    const proof = await prove(session, stream, Number(text))
    const { terminal, options } = call
    await terminal.out(
      options.isOn('json')
        ? `${JSON.stringify(proof)}\n`
        : `${[`leaf  ${proof.leaf}`, ...proof.path.map((hash) => `      ${hash}`), `root  ${proof.root}`, '', proof.checkpoint].join('\n')}`,
    )
    return EXIT.yes
  })
}

async function prove({ ledger }: ReadSession, stream: string, seq: number): Promise<FactProof> {
  const proof = await proveFact(ledger.store, stream, seq)
  if (proof !== null) return proof
  const message = `the stream ${showName(stream)} has no fact ${seq}`
  throw faultError('history.unknown', `${stream}/${seq}`, message)
}
