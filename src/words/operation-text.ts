/**
 * What an act would do, in words: one line for lists, and every part of it for a question. Values
 * of headers are shown only for names that carry no secret; bodies are shown, since they leave the
 * machine.
 *
 * What a result comes to, in words: files and requests, what a yes does, and what undo would do.
 */
import { isUtf8 } from 'node:buffer'
import { visible, visibleLine, visibleName } from '../base/index.ts'
import type { HeldRequest, Operation, Proposal, SandboxResult } from '../contracts/index.ts'
import { leavesOf } from '../gate/index.ts'
import { quote } from '../machine/index.ts'
import { counted, countsText, sizeText } from './amount.ts'
import { editOf } from './edit-script.ts'

/** A command as a person would type it. */
export function commandLine(argv: readonly string[]): string {
  return argv.map((word) => visible(quote(word))).join(' ')
}

/** Returns one line; that of a composite lists its steps. */
export function operationTitle({ operation, children }: Pick<Proposal, 'operation' | 'children'>) {
  if (operation !== undefined) return titleOf(operation)
  const steps: readonly string[] = (children ?? []).map(operationTitle)
  return `${counted(steps.length, 'step')}: ${steps.join('; ')}`
}

/** Of an operation as it is on the record, where some values may be replaced by marks. */
function titleOf(operation: Operation): string {
  switch (operation.type) {
    case 'COMMAND_EXECUTION':
      return commandTitle(operation.argv)
    case 'FILE_READ':
      return `read ${visibleName(operation.path)}`
    case 'FILE_WRITE':
      return `write ${visibleName(operation.path)}`
    case 'FILE_DELETE':
      return `delete ${namesOf(operation.paths)}`
    case 'FILE_MOVE':
      return `move ${visibleName(operation.from)} to ${visibleName(operation.to)}`
    case 'DIRECTORY_CREATE':
      return `make the directory ${visibleName(operation.path)}`
    case 'DIRECTORY_DELETE':
      return `delete the directory ${visibleName(operation.path)}${operation.recursive ? ' and all in it' : ''}`
    case 'PACKAGE_INSTALL':
    case 'PACKAGE_REMOVE': {
      const verb = operation.type === 'PACKAGE_INSTALL' ? 'install' : 'remove'
      return `${visible(operation.manager)} ${verb} ${operation.packages.map((name) => visible(name)).join(' ')}`
    }
    case 'NETWORK_REQUEST':
      return `${operation.method} ${visible(operation.url)}`
    case 'CONFIG_CHANGE':
      return `change settings in ${visibleName(operation.path)}`
    case 'UI_AUTOMATION':
      return `${counted(operation.steps.length, 'step')} in a browser at ${visible(operation.start_url)}`
    default:
      return operation satisfies never
  }
}

/** An edit of a client of MCP is named by its file; its program too, as another one could do anything. */
function commandTitle(argv: readonly string[]): string {
  const edit = editOf(argv)
  if (edit === null) return commandLine(argv)
  return `edit ${visibleName(edit.path)} with ${visibleName(edit.program)}`
}

const NAMES_MAX = 3

function namesOf(paths: readonly string[]): string {
  const named = paths.slice(0, NAMES_MAX).map(visibleName).join(', ')
  const more = paths.length - NAMES_MAX
  return more > 0 ? `${named} and ${more} more` : named
}

/** Everything of it that the title does not tell, one line each. */
export function operationLines(proposal: Proposal, whole: boolean): readonly string[] {
  const { operation, children } = proposal
  if (operation !== undefined) return detailLines(operation, whole)
  return (children ?? []).flatMap((child, index) => [
    `${index + 1}. ${operationTitle(child)}`,
    ...operationLines(child, whole).map((line) => `   ${line}`),
  ])
}

function detailLines(operation: Operation, whole: boolean): readonly string[] {
  switch (operation.type) {
    case 'COMMAND_EXECUTION': {
      const { argv, cwd, env = {}, stdin } = operation
      const names = Object.keys(env).map((name) => visible(name))
      const edit = editOf(argv)
      return [
        ...(edit === null ? [] : ['replaces:', ...bodyLines(edit.from, whole)]),
        ...(edit === null ? [] : ['by:', ...bodyLines(edit.to, whole)]),
        `in ${visibleName(cwd)}`,
        ...(names.length === 0 ? [] : [`with the variables ${names.join(', ')}`]),
        ...(stdin === undefined ? [] : ['reads as input:', ...bodyLines(stdin, whole)]),
      ]
    }
    case 'FILE_DELETE':
      return operation.paths.slice(NAMES_MAX).map((path) => `delete ${visibleName(path)}`)
    case 'NETWORK_REQUEST':
      return requestLines(operation, whole)
    case 'CONFIG_CHANGE': {
      const set = Object.entries(operation.set)
      return [
        ...set.map(([key, value]) => `set ${visible(key)} to ${visible(JSON.stringify(value))}`),
        ...operation.unset.map((key) => `remove ${visible(key)}`),
      ]
    }
    case 'UI_AUTOMATION':
      return operation.steps.map((step, index) => `${index + 1}. ${stepText(step)}`)
    // The line of the operation says everything.
    default:
      return []
  }
}

/** Shows only the length of a text that is typed into a page, since it may be a secret. */
function stepText(step: Extract<Operation, { type: 'UI_AUTOMATION' }>['steps'][number]): string {
  const shown = Object.entries(step).map(([name, value]) =>
    name === 'content' && typeof value === 'string'
      ? `${name} (${counted(value.length, 'character')})`
      : name === 'action'
        ? visible(String(value))
        : `${name} ${visible(String(value))}`,
  )
  return shown.join(', ')
}

/** Names of headers whose values say how, not who. */
const PLAIN_HEADERS: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'cache-control',
  'content-encoding',
  'content-language',
  'content-type',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-unmodified-since',
  'range',
  'user-agent',
])

function requestLines(
  { headers = {}, body, save_to }: Extract<Operation, { type: 'NETWORK_REQUEST' }>,
  whole: boolean,
): readonly string[] {
  const told = Object.entries(headers).map(([name, value]) => {
    const isPlain = PLAIN_HEADERS.has(name.toLowerCase())
    return `${visible(name)}: ${isPlain ? visible(value) : `(${counted(value.length, 'character')}, not shown)`}`
  })
  return [
    ...told,
    ...(body === undefined || body === '' ? ['no body'] : ['body:', ...bodyLines(body, whole)]),
    ...(save_to === undefined ? [] : [`the answer is written to ${visibleName(save_to)}`]),
  ]
}

const BODY_LINES_MAX = 20
const BODY_COLUMNS_MAX = 400

/** Bodies are text in a document; one that holds zero bytes is not for reading. */
function bodyLines(body: string, whole: boolean): readonly string[] {
  const bytes = Buffer.from(body, 'utf8')
  if (!isUtf8(bytes) || bytes.includes(0)) return [`  ${sizeText(bytes.length)}, not text`]
  const lines = body.split('\n')
  const shown = whole ? lines : lines.slice(0, BODY_LINES_MAX)
  const more = lines.length - shown.length
  return [
    ...shown.map((line) => `  ${whole ? visibleLine(line) : cutLine(line)}`),
    ...(more === 0
      ? []
      : [`  and ${counted(more, 'more line')}, ${sizeText(bytes.length)} in all`]),
  ]
}

function cutLine(line: string): string {
  if (line.length <= BODY_COLUMNS_MAX) return visibleLine(line)
  const more = line.length - BODY_COLUMNS_MAX
  return `${visibleLine(line.slice(0, BODY_COLUMNS_MAX))}… (${counted(more, 'character')} more)`
}

type Happened = Pick<SandboxResult, 'diff' | 'side_effects'>

/** `2 changed, 1 request (POST https://api.example.com/orders, 9 bytes)`. */
export function resultText({ diff, side_effects: { held = [] } }: Happened): string {
  const [first] = held
  if (first === undefined) return countsText(diff.counts)
  const { method, url, has_query, body_bytes } = first
  const address = `${visible(method)} ${visible(url)}${has_query ? '?…' : ''}`
  const requests =
    held.length === 1
      ? `1 request (${address}, ${body_bytes === 0 ? 'no body' : sizeText(body_bytes)})`
      : counted(held.length, 'request')
  return hasFiles(diff) ? `${countsText(diff.counts)}, ${requests}` : requests
}

/** What a person is asked to agree to. */
export function askText({ diff, side_effects: { held = [] } }: Happened): string {
  if (held.length === 0) return 'promote them?'
  const send = held.length === 1 ? 'send it?' : 'send them?'
  return hasFiles(diff) ? 'promote and send them?' : send
}

function hasFiles({ counts }: SandboxResult['diff']): boolean {
  return counts.added + counts.modified + counts.deleted > 0
}

/** What undo does about requests: proposes what compensates them, or cannot take them back. */
export function undoSentText(held: readonly HeldRequest[], proposal: Proposal | null): string {
  if (held.some(({ compensation }) => compensation === undefined)) {
    return 'what is sent cannot be taken back'
  }
  const compensations = proposal === null ? [] : compensationsOf(proposal)
  const what = compensations.length === 0 ? 'its compensation' : compensations.join('; ')
  return `writ undo asks to send what compensates it: ${what}`
}

function compensationsOf(proposal: Proposal): readonly string[] {
  return leavesOf(proposal).flatMap(({ proposal: { operation } }) =>
    operation?.type === 'NETWORK_REQUEST' && operation.compensation !== undefined
      ? [operationTitle({ operation: operation.compensation })]
      : [],
  )
}
