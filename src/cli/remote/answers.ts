/**
 * A human's answers through a service. What a yes means is shown here first, and the yes names the digest
 * of the effects that were shown: a question that changed meanwhile is refused there (I4).
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { ActDocument, Client } from '../../api/index.ts'
import { faultError, showName } from '../../base/index.ts'
import type { Proposal } from '../../contracts/index.ts'
import { visibleName } from '../../words/index.ts'
import { type CommandCall, EXIT, type Exit, usageError } from '../call/command.ts'
import { canAsk, readPassphrase } from '../call/passphrase.ts'
import { readAnswer } from '../effects/question-text.ts'
import { askWord } from '../gate/answer-line.ts'
import { askYes } from '../laws/acceptance.ts'
import { connect, told } from './remotes.ts'

const UNDO = /^undo-/i

/** `writ approve ID…` and `ID --only PATH…`. */
export async function approveThere(call: CommandCall): Promise<Exit> {
  const { arguments: ids, options } = call
  const only = options.texts('only')
  for (const name of ['like', 'stream', 'home']) refuseOption(call, name)
  if (ids.length === 0) throw usageError('no question is named', 'writ approve ID…')
  if (only.length > 0 && ids.length > 1) throw usageError('`--only` takes a part of one question')
  const relative = only.find((path) => !path.startsWith('/'))
  if (relative !== undefined) {
    const message = `${showName(relative)} is relative, and the service has another directory than this terminal`
    throw usageError(message, 'write the whole path, as the question shows it')
  }
  const client = await connect(call)
  const asked: { readonly id: string; readonly digest: string | null }[] = []
  for (const id of ids) {
    const digest = UNDO.test(id) ? null : await digestOf(client, id, only)
    if (asksFirst(call) && !(await isAgreed(call, client, id, only))) {
      call.terminal.err(`not approved; it still waits: writ deny ${visibleName(id)} ends it\n`)
      return EXIT.waiting
    }
    asked.push({ id, digest })
  }
  const proof = await proofOf(call, 'approving')
  const exits: Exit[] = []
  for (const { id, digest } of asked) {
    exits.push(await approveOne(call, client, { id, digest, only, proof }))
  }
  return exits.find((exit) => exit !== EXIT.yes) ?? EXIT.yes
}

function refuseOption({ options }: CommandCall, name: string): void {
  if (options.text(name) === null) return
  const message = `${showName(`--${name}`)} does not speak to a service`
  throw faultError('remote.no_form', '', message, 'name the questions one by one: writ approve ID…')
}

function asksFirst({ options }: CommandCall): boolean {
  return canAsk() && !options.isOn('yes') && !options.isOn('json')
}

/** The digest of what the person is shown. */
async function digestOf(client: Client, id: string, only: readonly string[]): Promise<string> {
  const params = { id }
  if (only.length === 0) return (await told(client.showQuestion({ params }))).value.result_digest
  const body = { only: [...only] }
  return (await told(client.showPart({ params, body }))).value.result_digest
}

async function isAgreed(
  { terminal }: CommandCall,
  client: Client,
  id: string,
  only: readonly string[],
): Promise<boolean> {
  const whole = { params: { id }, query: {}, accept: 'text/plain' }
  terminal.err(String((await told(client.showInboxEntry(whole))).value))
  if (only.length > 0) {
    const request = { params: { id }, body: { only: [...only] } }
    const { changes, left } = (await told(client.showPart(request))).value
    const lines = changes.map(({ change, path }) => `  ${change}  ${visibleName(path)}`)
    terminal.err(`only this part:\n${lines.join('\n')}\nleft out: ${left.length}\n`)
  }
  const prompt = `${terminal.paintError.strong('approve it?')} [y, N: leave it waiting] `
  const answer = await askWord(prompt, (line) => {
    const word = readAnswer(line)
    return word === 'all' ? null : word
  })
  return answer === 'yes'
}

async function proofOf(call: CommandCall, what: string) {
  const passphrase = await readPassphrase(call, `passphrase for ${what}`)
  if (passphrase !== null) return { passphrase }
  const hint = 'call from a terminal, or with `--pass-fd N`; it still waits'
  throw faultError('credential.required', '', `${what} needs your passphrase`, hint)
}

interface Yes {
  readonly id: string
  /** Null for a request to take an act back. */
  readonly digest: string | null
  readonly only: readonly string[]
  readonly proof: { readonly passphrase: string }
}

async function approveOne(
  { terminal, options }: CommandCall,
  client: Client,
  { id, digest, only, proof }: Yes,
): Promise<Exit> {
  const params = { id }
  const isJson = options.isOn('json')
  if (digest === null) {
    const accept = isJson ? 'application/json' : 'text/plain'
    const { value, exit } = await told(client.approveUndo({ params, body: { proof }, accept }))
    await terminal.out(typeof value === 'string' ? value : `${JSON.stringify(value)}\n`)
    return Object.values(EXIT).find((one) => one === exit) ?? EXIT.yes
  }
  const part = only.length === 0 ? {} : { only: [...only] }
  const body = { result_digest: digest, ...part, proof }
  const { value: act } = await told(client.approveQuestion({ params, body }))
  await terminal.out(isJson ? `${JSON.stringify(act)}\n` : actLine(act))
  return exitOf(act)
}

function actLine({ status, action_id }: ActDocument): string {
  return `${status}  ${action_id}\n`
}

const GOOD: ReadonlySet<ActDocument['status']> = new Set(['promoted', 'no effects'])
const OPEN: ReadonlySet<ActDocument['status']> = new Set(['waiting', 'unknown', 'approved', 'held'])

function exitOf({ status }: ActDocument): Exit {
  if (GOOD.has(status)) return EXIT.yes
  return OPEN.has(status) ? EXIT.waiting : EXIT.no
}

/**
 * `writ laws accept`: shows the law file there, asks, and accepts the bytes that were shown. With
 * `--digest` a person has seen them before.
 */
export async function acceptLawsThere(call: CommandCall): Promise<Exit> {
  const { terminal, options } = call
  const client = await connect(call)
  const isJson = options.isOn('json')
  const seen = options.text('digest')
  // Taken before the text is shown: a file that changes between them is refused there.
  const digest = seen ?? (await told(client.showLaws({}))).value.digest
  if (seen === null) {
    terminal.err(String((await told(client.showLaws({ accept: 'text/plain' }))).value))
    if (asksFirst(call) && !(await askYes())) {
      terminal.err('not accepted: the laws that were accepted before stay in force\n')
      return EXIT.no
    }
    if (!asksFirst(call) && !options.isOn('yes')) {
      const message = 'there is no terminal to ask at, and no `--yes`, so nothing was accepted'
      const hint = `after reading the laws above: \`writ laws accept --digest ${digest} --pass-fd N\``
      throw faultError('confirm.not_given', '', message, hint)
    }
  }
  const proof = await proofOf(call, 'accepting laws')
  const accept = isJson ? 'application/json' : 'text/plain'
  const { value, exit } = await told(client.acceptLaws({ body: { digest, proof }, accept }))
  await terminal.out(typeof value === 'string' ? value : `${JSON.stringify(value)}\n`)
  return Object.values(EXIT).find((one) => one === exit) ?? EXIT.yes
}

/** `writ deny ID`: `deny` carries the answer to a question, which a request for an undo is not. */
export async function denyThere(call: CommandCall, deny: () => Promise<Exit>): Promise<Exit> {
  const [id = ''] = call.arguments
  if (!UNDO.test(id)) return deny()
  const client = await connect(call)
  const proof = await proofOf(call, 'denying')
  const reason = call.options.text('reason')
  const body = { ...(reason === null ? {} : { reason }), proof }
  const accept = call.options.isOn('json') ? 'application/json' : 'text/plain'
  const { value } = await told(client.denyUndo({ params: { id }, body, accept }))
  await call.terminal.out(typeof value === 'string' ? value : `${JSON.stringify(value)}\n`)
  return EXIT.yes
}

const LOOK_MS = 1_000

/** `writ propose --wait`: proposes, and looks until a human has answered or time is up. */
export async function waitThere(call: CommandCall, document: unknown): Promise<Exit> {
  const client = await connect(call)
  const { terminal, options } = call
  const stream = options.text('stream')
  const query = stream === null ? {} : { stream }
  // The service judges the document.
  const body = document as Proposal
  const { value } = await told(client.proposeAction({ query, body, wait: 60 }))
  const params = { id: value.action_id }
  let isTold = false
  for (;;) {
    const { value: act } = await told(client.showAction({ params }))
    if (!OPEN.has(act.status)) {
      await terminal.out(options.isOn('json') ? `${JSON.stringify(act)}\n` : actLine(act))
      return exitOf(act)
    }
    // The list of questions also records that one has expired.
    const { questions } = (await told(client.listQuestions({ query: {} }))).value
    const open = questions.find(({ action_id }) => action_id === params.id)
    if (!isTold && open !== undefined) {
      terminal.err(`waiting for a human: writ approve ${open.id}, or writ deny ${open.id}\n`)
      isTold = true
    }
    await pause(LOOK_MS)
  }
}
