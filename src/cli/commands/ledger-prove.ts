/** `writ ledger prove SEQ`: the path from one fact to the root of the newest signed checkpoint. */
import { fault, showName } from '../../base/index.ts'
import {
  assemble,
  encodeHex,
  factLeaf,
  type Head,
  nodesOf,
  planInclusion,
  unknownStream,
} from '../../ledger/index.ts'
import { type Call, EXIT, type Exit, Stop } from '../command.ts'
import { type Session, streamToRead, withHome } from '../home.ts'

export async function run(call: Call): Promise<Exit> {
  const [text = '', ...others] = call.arguments
  if (!/^\d{1,15}$/.test(text) || others.length > 0) {
    const hint = 'writ ledger prove 12'
    throw new Stop(fault('cli.usage', '', null, { message: 'name one fact by its seq', hint }))
  }
  return withHome(call, async (session) => {
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

async function prove({ ledger }: Session, stream: string, seq: number) {
  const head: Head | null = await ledger.store.head(stream)
  if (head === null) throw new Stop(unknownStream(stream))
  const [stored] = await ledger.store.read(stream, seq, 1)
  if (stored?.seq !== seq || seq >= head.size) {
    const message = `the stream ${showName(stream)} has no fact ${seq}; it has ${head.size}`
    throw new Stop(fault('history.unknown', `${stream}/${seq}`, null, { message }))
  }
  const plan = planInclusion(seq, head.size)
  const path = assemble(plan, await ledger.store.nodes(stream, nodesOf(plan)))
  const text = (hash: Uint8Array): string => `sha256:${encodeHex(hash)}`
  return {
    seq,
    leaf: text(factLeaf(stored.text)),
    size: head.size,
    root: text(head.root),
    path: path.map(text),
    checkpoint: head.checkpoint,
  }
}
