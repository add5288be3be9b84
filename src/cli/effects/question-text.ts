/**
 * The last lines before a person answers: how many effects, of which result, and whether the command
 * failed. Counts and digest are directly above the question, as the inbox shows them, so that a person
 * cannot mistake something further up for what they agree to.
 */
import { CODES, isCode } from '../../base/index.ts'
import type { SandboxResult } from '../../contracts/index.ts'
import { askText, failureText, resultText, visible } from '../../words/index.ts'
import type { Paint } from '../call/terminal.ts'

const DIGITS = 8

/** The first hex digits of a digest. */
export function shortDigest(digest: string): string {
  return digest.slice(digest.indexOf(':') + 1).slice(0, DIGITS)
}

const ID_DIGITS = 12

/** A question as far as its id needs it; `whole` is there if it is a part of another. */
interface Named {
  readonly resultDigest: string
  readonly whole?: string
}

/** The id under which a question waits in the inbox: a part waits under that of the whole. */
export function questionId({ resultDigest, whole = resultDigest }: Named): string {
  return whole.slice(whole.indexOf(':') + 1).slice(0, ID_DIGITS)
}

/** The command that answers a question, between the quotes of a hint. */
export function approveWords(question: Named, options = ''): string {
  const same = question.whole === undefined ? '' : ' with the same `--only`'
  return `\`writ approve ${questionId(question)}${options}\`${same}`
}

/** What a question is about, as far as its last lines need it. */
interface Asked {
  readonly result: SandboxResult
  readonly resultDigest: string
}

/** What can be typed. A no after a run discards its effects; one to `writ approve` discards nothing. */
const CHOICES = {
  exec: '[y/N/later, a: show all] ',
  approve: '[y, N: leave it waiting, a: show all] ',
} as const

/** The command that asks. */
export type QuestionCommand = keyof typeof CHOICES

/** `why` are the reasons in words, which come before the last line. */
export function questionText(
  asked: Asked,
  asker: QuestionCommand,
  why: readonly string[],
  paint: Paint,
): string {
  const { result, resultDigest } = asked
  const counts = `${resultText(result)}, result ${shortDigest(resultDigest)}`
  const failure = failureText(result)
  const ask = failure === null ? askText(result) : 'promote its effects all the same?'
  return [
    '',
    ...(why.length === 0 ? [] : [...why, '']),
    ...(failure === null ? [] : [paint.bad(failure)]),
    `${paint.strong(counts)}: ${ask} ${CHOICES[asker]}`,
  ].join('\n')
}

/** Texts of laws for people, by the ids of the laws. */
export type LawTexts = ReadonlyMap<string, string>

/** Returns a line for each code: meaning, then code; a law has its text, a failure its status. */
export function reasonLines(
  codes: readonly string[],
  texts: LawTexts,
  paint: Paint,
  result: SandboxResult | null = null,
): readonly string[] {
  const hasLaw = codes.some((code) => code.startsWith(LAW))
  return (
    codes
      .filter((code) => !(code === 'confirm.law' && hasLaw))
      // Both say that the same act was taken back.
      .filter((code) => !(code === 'confirm.intent' && codes.includes('cooldown')))
      .map((code) => [code, failureWords(code, result) ?? codeWords(code, texts)] as const)
      .map(([code, words]) => `  ${words} ${paint.dim(`(${visible(code)})`)}`)
  )
}

/** How the command ended, for the code that says that it failed. */
function failureWords(code: string, result: SandboxResult | null): string | null {
  return code === 'result.failed' && result !== null ? failureText(result) : null
}

const LAW = 'law.'

/** What a code of a decision means. */
function codeWords(code: string, texts: LawTexts): string {
  if (isCode(code)) return CODES[code].says
  if (!code.startsWith(LAW)) return 'a reason that this version does not know'
  const id = code.slice(LAW.length)
  const text = texts.get(id)
  return text === undefined ? `by the law ${visible(id)}` : visible(text)
}

/** What a person can type at a question. */
type TypedAnswer = 'all' | 'always' | 'later' | 'no' | 'part' | 'yes'

const WORDS: ReadonlyMap<string, TypedAnswer> = new Map([
  ['y', 'yes'],
  ['yes', 'yes'],
  ['', 'no'],
  ['n', 'no'],
  ['no', 'no'],
  ['l', 'later'],
  ['later', 'later'],
  ['a', 'all'],
  ['all', 'all'],
  ['always', 'always'],
  ['part', 'part'],
])

/** Returns what a person typed; null for a word that is no answer. */
export function readAnswer(line: string): TypedAnswer | null {
  return WORDS.get(line.trim().toLowerCase()) ?? null
}
