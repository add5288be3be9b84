/**
 * Tickets: what a rewritten command line names instead of its payload. A ticket is a small file in
 * writ's state that holds the command, its directory and the host's session. Its id is their digest,
 * so two hooks that see the same call make one ticket.
 *
 * INVARIANT (one use): redeeming renames the file first, and a rename succeeds once.
 */
import { randomBytes } from 'node:crypto'
import { readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { digestDocument, faultError, showName } from '../base/index.ts'
import { TICKET_WORDS } from '../hosts/index.ts'
import { isAbsent, makeFolder, namesIfThere, writeWhole } from '../machine/index.ts'

interface TicketContent {
  readonly host: string
  readonly session: string | null
  readonly cwd: string
  readonly command: string
}

/** The host may ask its own question between hook and command. */
const LIFE_MS = 10 * 60_000
const TICKET = /^[0-9a-f]{32}$/

/** The directory of tickets in writ's state. */
export function ticketFolder(stateRoot: string): string {
  return join(stateRoot, 'tickets')
}

/** Writes a ticket and returns its id. Removes those that have expired. */
export function makeTicket(folder: string, content: TicketContent, nowMs: number): string {
  makeFolder(folder, 0o700)
  for (const name of namesIfThere(folder)) removeExpired(join(folder, name), nowMs)
  const id = digestDocument(content).slice('sha256:'.length).slice(0, 32)
  writeWhole(join(folder, `${id}.json`), JSON.stringify({ ...content, at: nowMs }), 0o600)
  return id
}

function removeExpired(file: string, nowMs: number): void {
  try {
    if (statSync(file).mtimeMs + 2 * LIFE_MS < nowMs) rmSync(file, { force: true })
  } catch {
    // Another process has removed it.
  }
}

/** Uses a ticket up. It counts in its own directory and below, and for ten minutes. */
export function redeemTicket(
  folder: string,
  id: string,
  cwd: string,
  nowMs: number,
): TicketContent {
  if (!TICKET.test(id)) throw refusal(id, 'is not a ticket')
  const taken = join(folder, `${id}.${randomBytes(6).toString('hex')}.taken`)
  try {
    renameSync(join(folder, `${id}.json`), taken)
  } catch (error) {
    if (isAbsent(error)) throw refusal(id, 'is unknown or was used before')
    throw error
  }
  // `makeTicket` wrote it; the directory belongs to this user alone.
  const ticket = JSON.parse(readFileSync(taken, 'utf8')) as TicketContent & { readonly at: number }
  rmSync(taken)
  if (ticket.at + LIFE_MS < nowMs) throw refusal(id, 'has expired')
  if (cwd !== ticket.cwd && !cwd.startsWith(`${ticket.cwd.replace(/\/$/, '')}/`)) {
    throw refusal(id, `is for ${showName(ticket.cwd)}, and this is ${showName(cwd)}`)
  }
  return ticket
}

/** A ticket line that is the whole text, or is in single quotes. */
const ALONE = new RegExp(`^/[\\w.@+/-]+ ${TICKET_WORDS.join(' ')} ([0-9a-f]{32})\\s*$`)
const QUOTED = new RegExp(`'/[\\w.@+/-]+ ${TICKET_WORDS.join(' ')} ([0-9a-f]{32})'`)

/**
 * Replaces a ticket line in a program of a shell by the command that it is for. Claude Code wraps a
 * tool's command in a program of its own (`… eval 'LINE' < /dev/null && pwd …`), and a shell that runs
 * under writ must not start writ again.
 */
export function withTickets(program: string, redeem: (id: string) => string): string {
  const alone = ALONE.exec(program)?.[1]
  if (alone !== undefined) return redeem(alone)
  const found = QUOTED.exec(program)
  if (found === null) return program
  const end = found.index + found[0].length
  // The group is a part of every match.
  const command = quoteAlways(redeem(found[1] as string))
  return `${program.slice(0, found.index)}${command}${program.slice(end)}`
}

function quoteAlways(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

function refusal(id: string, why: string): Error {
  const hint = 'run the command itself again; the hook makes a new ticket'
  return faultError('hook.ticket', id, `the ticket ${showName(id)} ${why}`, hint)
}
