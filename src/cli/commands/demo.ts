/** `writ demo`: the guided tour. Each part of writ adds a chapter. */

import { type CommandCall, EXIT, type Exit } from '../call/command.ts'
import { constitutionChapter } from '../demo/constitution-chapter.ts'
import { contractsChapter } from '../demo/contracts-chapter.ts'
import { type Chapter, DemoOutput } from '../demo/demo-output.ts'
import { flowChapter } from '../demo/flow-chapter.ts'
import { gateChapter } from '../demo/gate-chapter.ts'
import { lawsChapter } from '../demo/laws-chapter.ts'
import { ledgerChapter } from '../demo/ledger-chapter.ts'
import { serveShop } from '../demo/served-shop.ts'
import { sessionChapter } from '../demo/session-chapter.ts'

const CHAPTERS: readonly Chapter[] = [
  contractsChapter,
  constitutionChapter,
  ledgerChapter,
  gateChapter,
  sessionChapter,
  lawsChapter,
  flowChapter,
]

export async function run({ terminal, options }: CommandCall): Promise<Exit> {
  const stage = new DemoOutput(terminal)
  const played: { title: string; text: string }[] = []
  for (const [index, chapter] of CHAPTERS.entries()) {
    await chapter.play(stage)
    const text = stage.take()
    played.push({ title: chapter.title, text })
    if (!options.isOn('json')) {
      await terminal.out(`\n${terminal.paint.strong(`${index + 1}. ${chapter.title}`)}\n\n${text}`)
    }
  }
  if (options.isOn('json')) await terminal.out(`${JSON.stringify({ chapters: played })}\n`)
  else await terminal.out('\nThe tour is complete. `writ --help` lists the commands.\n')
  if (options.isOn('serve')) await serveShop(terminal)
  return EXIT.yes
}
