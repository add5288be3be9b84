/**
 * What people are sent about a question: what kind of act, whose, how risky, how many effects, and a link.
 * The command and the names of paths are in it only where the way says `contents`; the bytes of a file
 * never are. A message approves nothing.
 */
import { basename } from 'node:path'
import { displayOfRaw } from '../gate/index.ts'
import type { Question } from '../service/index.ts'
import { countsText, operationTitle, visibleLine } from '../words/index.ts'

export interface Message {
  /** The same for every try, so that receivers can tell a repetition. */
  readonly id: string
  readonly action_id: string
  readonly question: string
  readonly title: string
  readonly text: string
  readonly risk: string
  readonly effects: { readonly added: number; readonly modified: number; readonly deleted: number }
  readonly asked_at: string
  readonly expires_at: string
  /** Null without a service. */
  readonly link: string | null
  /** Only where the settings want it. */
  readonly contents?: { readonly what: string; readonly paths: readonly string[] }
}

interface MessageTerms {
  /** The directory that the question is about. */
  readonly workspace: string
  readonly question: string
  readonly link: string | null
  readonly contents: boolean
}

const PATHS_MAX = 50

/** What was run, without its words: an argument can hold a secret. */
const KINDS: Readonly<Record<string, string>> = {
  COMMAND_EXECUTION: 'a command',
  FILE_CHANGE: 'a change of files',
  CONFIG_CHANGE: 'a change of settings',
  NETWORK_REQUEST: 'a request to another machine',
  UI_AUTOMATION: 'work in a browser',
}

export function messageOf(question: Question, terms: MessageTerms): Message {
  const { asker, proposal, result, risk, actionId, askedAt, expiresAt } = question
  const { counts } = result.diff
  const what = KINDS[proposal.descriptor.action_type] ?? 'an act'
  const who = asker.agent ?? asker.kind
  const where = visibleLine(basename(terms.workspace))
  const link =
    terms.link === null ? null : `${terms.link.replace(/\/$/, '')}/questions/${terms.question}`
  const next = link ?? `writ inbox ${terms.question}`
  const title = `writ: ${where} waits for an answer`
  const text = `${who} asks about ${what} in ${where}: ${countsText(counts)}, risk ${risk}. ${next}`
  const shown = terms.contents ? { contents: contentsOf(question) } : {}
  return {
    id: `${actionId}.${Date.parse(askedAt)}`,
    action_id: actionId,
    question: terms.question,
    title,
    text,
    risk,
    effects: counts,
    asked_at: askedAt,
    expires_at: expiresAt,
    link,
    ...shown,
  }
}

function contentsOf({ proposal, changes }: Question): NonNullable<Message['contents']> {
  const paths = changes.slice(0, PATHS_MAX).map(({ path }) => displayOfRaw(path))
  return { what: operationTitle(proposal), paths }
}

/** The message of `writ notify test`. */
export function testMessage(workspace: string, nowMs: number): Message {
  const at = new Date(nowMs).toISOString()
  const where = visibleLine(basename(workspace))
  return {
    id: `test.${nowMs}`,
    action_id: '00000000-0000-4000-8000-000000000000',
    question: '000000000000',
    title: `writ: a test message of ${where}`,
    text: `This way to tell people of questions in ${where} works.`,
    risk: 'LOW',
    effects: { added: 0, modified: 0, deleted: 0 },
    asked_at: at,
    expires_at: at,
    link: null,
  }
}

/** The text with the contents, one line each, for people. */
export function wholeText({ text, contents }: Message): string {
  if (contents === undefined) return text
  return [text, contents.what, ...contents.paths].map((line) => visibleLine(line)).join('\n')
}
