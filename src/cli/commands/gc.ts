/**
 * `writ gc`: removes what is no longer needed: stages of questions that ended, pre-images past their
 * time, what dead processes left, and bodies whose time is over as the laws say. Facts stay.
 */
import { findUnneeded, removeUnneeded, type Unneeded } from '../../service/index.ts'
import { type CommandCall, EXIT, type Exit } from '../call/command.ts'
import { requireHuman, requireWholeHost } from '../call/home.ts'
import type { Terminal } from '../call/terminal.ts'
import { counted, sizeText } from '../effects/amount.ts'
import { visible } from '../effects/visible.ts'
import { homeInUse, withGates } from '../gate/open.ts'

interface Collected {
  readonly removed: readonly Unneeded[]
  readonly bodies: number
  readonly bytes: number
  readonly dry_run: boolean
}

const WORDS: Readonly<Record<Unneeded['kind'], string>> = {
  stage: 'staged files of ended questions',
  preimages: 'files kept for an undo that is over',
  leftover: 'leftovers of processes that ended',
}

export async function run(call: CommandCall): Promise<Exit> {
  const dryRun = call.options.isOn('dry-run')
  return withGates(call, async (sessions) => {
    const [own] = sessions
    if (own !== undefined && dryRun) requireWholeHost(own.session.caller, 'collecting garbage')
    else if (own !== undefined) await requireHuman(own.session, call, 'collecting garbage')
    const removed = await findUnneeded(await homeInUse(sessions))
    const bodies = []
    for (const { gate } of sessions) bodies.push(...(await gate.tidy({ dryRun })))
    if (!dryRun) await removeUnneeded(removed)
    const bytes = [...removed, ...bodies].reduce((sum, each) => sum + each.bytes, 0)
    const answer = { removed, bodies: bodies.length, bytes, dry_run: dryRun }
    const { terminal, options } = call
    const text = options.isOn('json') ? `${JSON.stringify(answer)}\n` : answerText(terminal, answer)
    await terminal.out(text)
    return EXIT.yes
  })
}

function answerText({ paint }: Terminal, { removed, bodies, bytes, dry_run }: Collected): string {
  if (removed.length + bodies === 0) return 'nothing to remove: everything here is still needed\n'
  const word = dry_run ? paint.accent('would be removed') : paint.good('removed')
  const rows = Object.entries(WORDS).flatMap(([kind, words]) => {
    const of = removed.filter((each) => each.kind === kind)
    const size = of.reduce((sum, each) => sum + each.bytes, 0)
    if (of.length === 0) return []
    const places = of.slice(0, PLACES_MAX).map(({ path }) => `    ${visible(path)}`)
    return [`  ${words}: ${of.length}, ${sizeText(size)}`, ...places]
  })
  const old = bodies === 0 ? [] : [`  ${counted(bodies, 'body', 'bodies')} whose time is over`]
  return `${[`${word}  ${sizeText(bytes)}`, ...rows, ...old].join('\n')}\n`
}

const PLACES_MAX = 10
