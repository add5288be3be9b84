/** `writ completion SHELL`: prints a completion script; with `--ids` what the script offers. */
import type { Confirmation, Decision } from '../../contracts/index.ts'
import { openFact, shortId } from '../../history/index.ts'
import type { LedgerReader } from '../../store/index.ts'
import {
  type Command,
  type CommandCall,
  type Exit,
  offeredOptions,
  reply,
  usageError,
} from '../call/command.ts'
import { streamsToRead, withHistory } from '../call/home.ts'
import { questionId } from '../effects/question-text.ts'
import { COMMANDS } from './table.ts'

export async function run(call: CommandCall): Promise<Exit> {
  const kind = call.options.text('ids')
  if (kind !== null) return printIds(call, kind)
  const [named, ...others] = call.arguments
  const shell = SHELLS.find((one) => one === named)
  if (shell === undefined || others.length > 0) {
    throw usageError(`name one shell: ${SHELLS.join(', ')}`, 'source <(writ completion bash)')
  }
  const script = completionScript(shell, COMMANDS)
  return reply(call, { shell, script }, () => script)
}

/** Nothing where no home is, or one that cannot be read: a tab key is no place for an error. */
async function printIds(call: CommandCall, named: string): Promise<Exit> {
  const kind = ID_KINDS.find((one) => one === named)
  if (kind === undefined) {
    throw usageError(`name one kind of ids: ${ID_KINDS.join(', ')}`)
  }
  const ids = await knownIds(call, kind).catch(() => [])
  return reply(call, { ids }, () => ids.map((id) => `${id}\n`).join(''))
}

const SHELLS = ['bash', 'zsh', 'fish'] as const
const ID_KINDS = ['questions', 'acts'] as const
/** More than a shell shows at once. */
const NEWEST = 100

type Shell = (typeof SHELLS)[number]

/**
 * Completion scripts for shells, made from the table of commands.
 *
 * Ids that a shell offers at the tab key: questions that wait and acts, newest first. Read from the
 * records alone, so that a key press ends nothing, recovers nothing and opens no sandbox.
 */
function completionScript(shell: Shell, commands: readonly Command[]): string {
  switch (shell) {
    case 'bash':
      return bashScript(commands)
    case 'zsh':
      return `#compdef writ\nautoload -U +X bashcompinit && bashcompinit\n${bashScript(commands)}`
    case 'fish':
      return fishScript(commands)
    default:
      return shell satisfies never
  }
}

/** Commands whose arguments are ids, and which. */
const TAKES_IDS: Readonly<Record<string, IdKind>> = {
  approve: 'questions',
  deny: 'questions',
  inbox: 'questions',
  show: 'acts',
  rollback: 'acts',
  replay: 'acts',
  'laws explain': 'acts',
}

function optionsOf(command: Command): readonly string[] {
  return offeredOptions(command).map(({ name }) => `--${name}`)
}

function firstWords(commands: readonly Command[]): readonly string[] {
  return [...new Set(commands.map(({ name }) => name.split(' ')[0] ?? ''))]
}

function secondWords(commands: readonly Command[], first: string): readonly string[] {
  return commands.flatMap(({ name }) => {
    const [one, two] = name.split(' ')
    return one === first && two !== undefined ? [two] : []
  })
}

/** Names hold letters, digits and hyphens only, so that no word needs quoting. */
function bashScript(commands: readonly Command[]): string {
  const seconds = firstWords(commands).flatMap((first) => {
    const words = secondWords(commands, first)
    return words.length === 0 ? [] : [`    ${first}) seconds="${words.join(' ')}" ;;`]
  })
  const options = commands.map(
    (command) => `    "${command.name}") options="${optionsOf(command).join(' ')}" ;;`,
  )
  const ids = Object.entries(TAKES_IDS).map(
    ([name, kind]) =>
      `    "${name}") COMPREPLY=( $(compgen -W "$(writ completion --ids ${kind} 2>/dev/null)" -- "$word") ) ;;`,
  )
  return `_writ() {
  local word="\${COMP_WORDS[COMP_CWORD]}" first="\${COMP_WORDS[1]}" second="\${COMP_WORDS[2]}"
  local name seconds="" options=""
  case "$first" in
${seconds.join('\n')}
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=( $(compgen -W "${firstWords(commands).join(' ')} help" -- "$word") ); return
  fi
  if [ "$COMP_CWORD" -eq 2 ] && [ -n "$seconds" ]; then
    COMPREPLY=( $(compgen -W "$seconds" -- "$word") ); return
  fi
  name="$first"; [ -z "$seconds" ] || name="$first $second"
  case "$name" in
${options.join('\n')}
  esac
  case "$word" in
    -*) COMPREPLY=( $(compgen -W "$options" -- "$word") ); return ;;
  esac
  case "$name" in
${ids.join('\n')}
    *) COMPREPLY=() ;;
  esac
}
complete -o default -F _writ writ
`
}

function fishScript(commands: readonly Command[]): string {
  const firsts = firstWords(commands).map((first) => {
    const own = commands.find(({ name }) => name === first)
    return `complete -c writ -n __fish_use_subcommand -a ${first} -d ${quoted(own?.says ?? `${first} …`)}`
  })
  const rest = commands.flatMap((command) => {
    const [first = '', second] = command.name.split(' ')
    const seen = `__fish_seen_subcommand_from ${first}`
    const offered =
      second === undefined
        ? []
        : [`complete -c writ -n '${seen}' -a ${second} -d ${quoted(command.says)}`]
    const whole = second === undefined ? seen : `${seen}; and __fish_seen_subcommand_from ${second}`
    return [
      ...offered,
      ...offeredOptions(command).map(
        ({ name, value, says }) =>
          `complete -c writ -n '${whole}' -l ${name}${value === null ? '' : ' -r'} -d ${quoted(says)}`,
      ),
    ]
  })
  const ids = Object.entries(TAKES_IDS).map(([name, kind]) => {
    const seen = name.split(' ').map((word) => `__fish_seen_subcommand_from ${word}`)
    return `complete -c writ -n '${seen.join('; and ')}' -f -a '(writ completion --ids ${kind} 2>/dev/null)'`
  })
  return `${[...firsts, ...rest, ...ids].join('\n')}\n`
}

function quoted(text: string): string {
  return `'${text.replace(/['\\]/g, '\\$&')}'`
}

type IdKind = (typeof ID_KINDS)[number]

async function knownIds(call: CommandCall, kind: IdKind): Promise<readonly string[]> {
  return withHistory(call, async (session) => {
    const ids = new Set<string>()
    for (const stream of await streamsToRead(session, call)) {
      const decisions = await newest<Decision>(session.ledger, stream, 'decision_v1')
      if (kind === 'acts') for (const { action_id } of decisions) ids.add(shortId(action_id))
      else for (const id of await questions(session.ledger, stream, decisions)) ids.add(id)
    }
    return [...ids]
  })
}

/** The last decision about an act asks, and no answer is recorded. */
async function questions(
  ledger: LedgerReader,
  stream: string,
  decisions: readonly Decision[],
): Promise<readonly string[]> {
  const answers = await newest<Confirmation>(ledger, stream, 'confirmation_v1')
  const seen = new Set(answers.map(({ action_id }) => action_id))
  return decisions.flatMap(({ action_id, decision, result_digest }) => {
    if (seen.has(action_id)) return []
    seen.add(action_id)
    const isAsked = decision === 'CONFIRM' && result_digest !== undefined
    return isAsked ? [questionId({ resultDigest: result_digest })] : []
  })
}

async function newest<T>(
  ledger: LedgerReader,
  stream: string,
  type: string,
): Promise<readonly T[]> {
  const page = await ledger.store.find({ stream, type, limit: NEWEST, order: 'newest_first' })
  const opened = await Promise.all(page.facts.map(({ text }) => openFact(ledger, text)))
  // The store judged the record by its contract; only one that is gone is null.
  return opened.flatMap(({ payload }) => (payload === null ? [] : [payload as T]))
}
