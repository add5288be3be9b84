/** `writ ledger export DIR`: a bundle that anyone can verify offline, without writ (I8). */
import { exportBundle } from '../../store/index.ts'
import { type CommandCall, EXIT, type Exit } from '../call/command.ts'
import { LEVEL, streamToRead, withHistory } from '../call/home.ts'
import { refuseActorsFile } from '../call/output-file.ts'
import { progressBar } from '../call/terminal.ts'
import { usageError } from '../call/usage.ts'

export async function run(call: CommandCall): Promise<Exit> {
  const [dir, ...others] = call.arguments
  if (dir === undefined || others.length > 0) {
    throw usageError('name one new directory', 'writ ledger export bundle')
  }
  await refuseActorsFile(call, dir, 'a person exports it: writ ledger export DIR')
  return withHistory(call, async (session) => {
    const stream = await streamToRead(session, call)
    const bar = progressBar(call.terminal, 'exporting')
    const { size, root } = await exportBundle(session.ledger, dir, {
      stream,
      level: LEVEL,
      bodies: call.options.isOn('bodies'),
      onProgress: ({ written, total }) => bar.tick(written, total),
    })
    bar.end()
    const { terminal, options } = call
    await terminal.out(
      options.isOn('json')
        ? `${JSON.stringify({ dir, size, root })}\n`
        : `${terminal.paint.good('exported')}  ${dir}  ${size} facts, root ${root}\n`,
    )
    return EXIT.yes
  })
}
