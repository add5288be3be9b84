/** Completion scripts for shells, made from the table of commands. */
import { COMMON_OPTIONS, type Command } from '../call/command.ts'
import type { IdKind } from './known-ids.ts'

export const SHELLS = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof SHELLS)[number]

export function completionScript(shell: Shell, commands: readonly Command[]): string {
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

function optionsOf({ options }: Command): readonly string[] {
  return [...options, ...COMMON_OPTIONS].map(({ name }) => `--${name}`)
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
      ...[...command.options, ...COMMON_OPTIONS].map(
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
