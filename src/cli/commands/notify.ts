/** `writ notify …`: tells people of questions that wait, by the ways that the laws' settings name. */
import { dirname } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { faultCode, faultError, showName } from '../../base/index.ts'
import type { KnownHome } from '../../home/index.ts'
import { readSecret, stateRoot } from '../../home/index.ts'
import {
  look,
  type NotifyHost,
  type NotifyNews,
  testMessage,
  tryWays,
} from '../../notifications/index.ts'
import { type CommandCall, EXIT, type Exit } from '../call/command.ts'
import { refuseOthers } from '../call/home.ts'
import { surroundings } from '../call/terminal.ts'
import { endWithInput, interruptible } from '../flow/interruptible.ts'
import { type GateSession, withGates } from '../gate/open.ts'
import { plain } from '../history/text.ts'

const LOOK_MS = 5_000
/** The ledger may be away for a while. */
const REST_MS = 30_000

/** `writ notify run`: sends what is due, in the foreground or once. */
export async function run(call: CommandCall): Promise<Exit> {
  const { terminal, options } = call
  const isOnce = options.isOn('once')
  const isJson = options.isOn('json') || options.isOn('jsonl')
  let hasFailed = false
  let line: Promise<void> = Promise.resolve()
  const tell = (news: NotifyNews): void => {
    hasFailed ||= news.outcome === 'FAILED'
    line = line.then(() => terminal.out(`${isJson ? JSON.stringify(news) : newsText(news)}\n`))
  }
  if (options.isOn('attached')) endWithInput()
  const looking = async (abort: AbortSignal): Promise<void> => {
    do {
      const restMs = await lookOnce(call, tell, isOnce)
      if (isOnce) return
      await pause(restMs, null, { signal: abort })
    } while (!abort.aborted)
  }
  try {
    await interruptible(looking, 'writ notify run')
  } catch (error) {
    // A pause that is aborted throws an error of this name.
    const isAborted = (error as Error).name === 'AbortError'
    const isEnd = isAborted || faultCode(error) === 'flow.interrupted'
    if (!isEnd) throw error
  }
  await line
  return isOnce && hasFailed ? EXIT.no : EXIT.yes
}

/** Opens the gates for each look, so that the laws are those of now. Returns how long to rest. */
async function lookOnce(
  call: CommandCall,
  tell: (news: NotifyNews) => void,
  isOnce: boolean,
): Promise<number> {
  try {
    return await withGates(call, async (sessions) => {
      for (const { session } of sessions)
        refuseOthers(session.caller, 'telling people of questions')
      let restMs = LOOK_MS
      for (const session of sessions) {
        const next = await look(hostOf(session, call), tell)
        if (next !== null) restMs = Math.min(restMs, Math.max(0, next - Date.now()))
      }
      return restMs
    })
  } catch (error) {
    if (isOnce || !(faultCode(error) ?? '').startsWith('ledger.')) throw error
    return REST_MS
  }
}

function hostOf({ gate, session, stream }: GateSession, { options }: CommandCall): NotifyHost {
  const root = stateRoot(surroundings())
  return {
    gate,
    ledger: session.ledger,
    stream,
    principal: session.caller.principal,
    // A session of the gate is opened over a home that is known.
    workspace: dirname((session.home as KnownHome).directory),
    secretOf: (name) => readSecret(root, name),
    nowMs: Date.now,
    console: options.text('console'),
  }
}

function newsText({ at, way, kind, action_id, outcome, attempt, reason }: NotifyNews): string {
  const what = outcome === 'DELIVERED' ? 'delivered' : `failed, try ${attempt}: ${reason ?? ''}`
  return plain(`${at}  ${way} (${kind})  ${action_id}  ${what}`)
}

/** `writ notify test`: sends a test message by each way, or by those that are named. */
export async function test(call: CommandCall): Promise<Exit> {
  return withGates(call, async ([own]) => {
    if (own === undefined) return EXIT.no
    refuseOthers(own.session.caller, 'sending a test message')
    const { ways } = own.gate.notify
    const names = call.arguments.length === 0 ? ways.map(({ name }) => name) : call.arguments
    const unknown = names.find((name) => !ways.some((way) => way.name === name))
    if (unknown !== undefined || ways.length === 0) {
      const message =
        unknown === undefined
          ? 'the settings name no way to tell people'
          : `the settings name no way ${showName(unknown)}`
      const hint = 'add it to `settings.notify` in .writ/laws.yaml, then `writ laws accept`'
      throw faultError('notify.unknown', unknown ?? '', message, hint)
    }
    const { workspace, secretOf } = hostOf(own, call)
    const chosen = ways.filter(({ name }) => names.includes(name))
    const tried = await tryWays(chosen, testMessage(workspace, Date.now()), secretOf)
    const { terminal, options } = call
    const lines = tried.map(({ way, kind, reason }) => {
      const word = reason === null ? terminal.paint.good('sent') : terminal.paint.bad('failed')
      return plain(`${word}  ${way} (${kind})${reason === null ? '' : `  ${reason}`}`)
    })
    await terminal.out(
      options.isOn('json') ? `${JSON.stringify({ tried })}\n` : `${lines.join('\n')}\n`,
    )
    return tried.every(({ reason }) => reason === null) ? EXIT.yes : EXIT.no
  })
}
