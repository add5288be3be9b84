/** `writ schedule run`: starts the runs of schedules when their times come, in the foreground or once. */
import { faultCode } from '../../base/index.ts'
import { runSchedules, type ScheduleNews } from '../../schedules/index.ts'
import { type CommandCall, EXIT, type Exit } from '../call/command.ts'
import { endWithInput, interruptible } from '../flow/interruptible.ts'
import { withFlows } from '../flow/open.ts'
import { refuseActors } from '../flow/person.ts'
import { plain } from '../history/text.ts'

export async function run(call: CommandCall): Promise<Exit> {
  const { terminal, options } = call
  const isJson = options.isOn('json') || options.isOn('jsonl')
  let line: Promise<void> = Promise.resolve()
  let hasFailed = false
  const tell = (news: ScheduleNews): void => {
    hasFailed ||= news.kind === 'failed'
    const text = isJson ? JSON.stringify(news) : newsText(news)
    line = line.then(() => terminal.out(`${text}\n`))
  }
  const once = options.isOn('once')
  if (options.isOn('attached')) endWithInput()
  return withFlows(call, async ({ host, gate }) => {
    refuseActors(gate, 'starting the runs of schedules', 'writ schedule run')
    // No person is asked here: what needs a yes waits in the inbox.
    const quiet = { ...host, confirm: async () => ({ kind: 'wait' as const }) }
    const looking = (abort: AbortSignal): Promise<void> =>
      runSchedules(quiet, { once, tell, abort })
    try {
      await interruptible(looking, 'writ schedule run')
    } catch (error) {
      if (faultCode(error) !== 'flow.interrupted') throw error
    }
    await line
    return once && hasFailed ? EXIT.no : EXIT.yes
  })
}

const KIND_WORDS: Readonly<Record<ScheduleNews['kind'], string>> = {
  started: 'starts',
  resumed: 'goes on',
  passed: 'passed',
  ended: 'stops',
  skipped: 'skipped',
  failed: 'failed',
  halted: 'halted',
  left: 'left to other machines',
}

function newsText(news: ScheduleNews): string {
  const { kind, name, at, slot, run_id, status, missed, why, code, message } = news
  const parts = [
    at,
    KIND_WORDS[kind],
    name,
    ...(slot === undefined ? [] : [`time ${slot}`]),
    ...(run_id === undefined ? [] : [run_id]),
    ...(status === undefined ? [] : [status]),
    ...(missed === undefined ? [] : [`for ${missed} missed before`]),
    ...(why === undefined ? [] : [why]),
    ...(message === undefined ? [] : [message]),
    ...(code === undefined ? [] : [code]),
    ...(kind === 'halted' ? ['no run starts until `writ resume`'] : []),
  ]
  return plain(parts.filter((part) => part !== '').join('  '))
}
