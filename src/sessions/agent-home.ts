/**
 * The home that an agent sees (S-8, S-12): a directory of writ's own, one for each agent and home, that
 * stays from session to session. Nothing in it becomes real in the person's home. The identity for git is
 * copied into it; credentials are not.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { KnownHome } from '../home/index.ts'
import { readIfThere, writeWhole } from '../machine/index.ts'

const AGENTS = 'agents'

/** Returns the directory, which is made if it is missing. */
export function agentHome(home: KnownHome, agent: string, userDirectory: string): string {
  const directory = join(home.state, AGENTS, agent.replaceAll(/[^\w.-]/g, '_'))
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const identity = gitIdentity(readIfThere(join(userDirectory, '.gitconfig')) ?? '')
  if (identity !== '' && readIfThere(join(directory, '.gitconfig')) === null) {
    writeWhole(join(directory, '.gitconfig'), identity, 0o600)
  }
  return directory
}

const SECTION = /^\s*\[\s*([^\]]+?)\s*\]\s*$/
const NAMED = /^\s*(?:name|email|signingkey)\s*=/i

/** The part of git's configuration that says who commits; helpers, aliases and includes stay out. */
export function gitIdentity(text: string): string {
  const kept: string[] = []
  let isUser = false
  for (const line of text.split('\n')) {
    const section = SECTION.exec(line)?.[1]
    if (section !== undefined) isUser = section.toLowerCase() === 'user'
    else if (isUser && NAMED.test(line) && !/signingkey/i.test(line)) kept.push(line.trim())
  }
  return kept.length === 0 ? '' : `[user]\n${kept.map((line) => `\t${line}\n`).join('')}`
}
