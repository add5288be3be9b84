/**
 * A call of `gh` from a session as a held command: the words as they are, and the texts that go with them.
 *
 * INVARIANT (what it changes is in its words): a call names its repository, and its pull request or issue
 *   by number. gh would take these from the branch and the remotes of a directory that the agent changes.
 */
import { digestBytes, faultError } from '../../base/index.ts'
import type { CommandPlan, CommandWish, HeldInput, HeldWord } from './command-plan.ts'
import { type GhWords, ghWords } from './gh-form.ts'
import { callTarget } from './gh-target.ts'

/** What changes something on the server; everything else fails inside for want of credentials. */
const WRITING: Readonly<Record<string, readonly string[]>> = {
  pr: ['create', 'comment', 'edit', 'close', 'reopen', 'ready', 'merge', 'review'],
  issue: ['create', 'comment', 'edit', 'close', 'reopen'],
  release: ['create', 'edit', 'upload', 'delete'],
  gist: ['create'],
  label: ['create', 'edit', 'delete'],
  workflow: ['run'],
}
/** These open a browser or an editor of the person. */
const AT_A_TERMINAL = /^(?:-w|--web|-e|--editor|--recover)(?:=|$)/
const TEXT_SHOWN = 200_000

/** Whether a call changes something on the server. */
export function isGhHeld(argv: readonly HeldWord[]): boolean {
  const words = plainWords(argv)
  const [kind = '', action = ''] = words
  if (kind === 'api') return methodOf(words, argv) !== 'GET'
  return WRITING[kind]?.includes(action) === true
}

function plainWords(argv: readonly HeldWord[]): readonly string[] {
  return argv.filter((word): word is string => typeof word === 'string')
}

export async function ghCall(wish: CommandWish, { variables }: Persons): Promise<CommandPlan> {
  const words = plainWords(wish.argv)
  const [kind = '', action = ''] = words
  const isApi = kind === 'api'
  if (words.some((word) => AT_A_TERMINAL.test(word))) {
    throw refused('options that open a browser or an editor cannot be used from a session')
  }
  const given = ghWords(wish.argv)
  const method = isApi ? heldMethod(given) : 'POST'
  const { host, repository } = callTarget(kind, action, given, variables['GH_HOST'])
  const server = host === 'github.com' ? 'api.github.com' : host
  const path = isApi ? pathOf(given) : `gh/${kind}/${action}`
  return {
    url: `https://${server}/${encodeURI(path.replace(/^\/+/, ''))}`,
    method,
    summary: isApi ? `Call ${method} on ${host} with gh.` : `Run gh ${kind} ${action} on ${host}.`,
    lines: [
      ...(isApi ? [`${method} https://${server}/${path.replace(/^\/+/, '')}`] : []),
      `by your gh on ${host}${repository === null ? '' : `, in the repository ${repository}`}`,
      ...wish.inputs.flatMap(shownInput),
    ],
    argv: wish.argv,
    // A host that the words do not name is this one also where gh knows a single other one.
    variables: { GH_PROMPT_DISABLED: '1', GH_NO_UPDATE_NOTIFIER: '1', GH_HOST: host },
  }
}

interface Persons {
  readonly variables: Readonly<Record<string, string>>
}

/** As gh does: POST if there are fields or an input, unless a method is named. */
function methodOf(words: readonly string[], all: readonly HeldWord[]): string {
  const named = optionValue(words, '-X') ?? optionValue(words, '--method')
  if (named !== undefined) return /^[A-Za-z]+$/.test(named) ? named.toUpperCase() : 'POST'
  const hasFields = words.some((word) => /^(?:-f|-F|--field|--raw-field|--input)(?:=|$)/.test(word))
  return hasFields || all.length > words.length ? 'POST' : 'GET'
}

function optionValue(words: readonly string[], option: string): string | undefined {
  const at = words.findIndex((word) => word === option || word.startsWith(`${option}=`))
  if (at === -1) return undefined
  const word = words[at] ?? ''
  return word === option ? words[at + 1] : word.slice(option.length + 1)
}

/** The same of a call that has its form. */
function heldMethod({ options }: GhWords): string {
  const named = options.get('-X') ?? options.get('--method')
  if (options.has('-X') && options.has('--method')) throw refused('it names its method twice')
  if (named !== undefined) return /^[A-Za-z]+$/.test(named) ? named.toUpperCase() : 'POST'
  const sends = ['-f', '-F', '--field', '--raw-field', '--input'].some((name) => options.has(name))
  return sends ? 'POST' : 'GET'
}

function pathOf({ places }: GhWords): string {
  const [path] = places
  if (typeof path === 'string' && !path.includes('://')) return path
  throw refused('`gh api` needs the path of its request')
}

function shownInput({ name, bytes }: HeldInput): readonly string[] {
  const text = bytes.toString('utf8')
  const isText = Buffer.from(text).equals(bytes)
  const head = `input ${name}, ${bytes.length} bytes, ${digestBytes(bytes)}`
  if (!isText) return [`${head}, not text`]
  const rest = text.length > TEXT_SHOWN ? ['  … and more'] : []
  return [
    `${head}:`,
    ...text
      .slice(0, TEXT_SHOWN)
      .split('\n')
      .map((line) => `  ${line}`),
    ...rest,
  ]
}

function refused(message: string) {
  return faultError('request.failed', 'gh', `the command cannot be held: ${message}`)
}
