/**
 * The home that an agent sees (S-8, S-12): a directory of writ's own, one for each agent and home, that
 * stays from session to session. Nothing in it becomes real in the person's home. It begins with the
 * settings that the adapter names and the identity for git, without credentials of git.
 *
 * Parts that run code or grant rights are compared when a session starts: what an earlier session
 * added to them is used only after a person has accepted it.
 */
import { cpSync, existsSync, mkdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { KnownHome } from '../../home/index.ts'
import type { AgentHost } from '../../hosts/index.ts'
import { readIfThere, writeWhole } from '../../machine/index.ts'
import { type AgentPowers, type PowerChange, powerChanges, powersOf } from './agent-powers.ts'
import { filesBelow } from './files-below.ts'
import { isAmong, parsedGlobs } from './home-globs.ts'

const AGENTS = 'agents'
const PRIVATE = 0o700

/** What a person accepted: the parts, and the directories in which they started this agent. */
interface Accepted {
  readonly workspaces: readonly string[]
  readonly powers: AgentPowers
}

/** What was changed since, as it was found at one moment; `accept` accepts exactly that. */
interface FoundPowers {
  readonly changes: readonly PowerChange[]
  readonly accept: () => void
}

export class AgentHome {
  /** What the agent sees as its home. */
  readonly directory: string
  /** What writ keeps about it. */
  readonly place: string
  readonly #accepted: string
  readonly #host: AgentHost | null

  private constructor(place: string, host: AgentHost | null) {
    this.place = place
    this.directory = join(place, 'home')
    this.#accepted = join(place, 'accepted.json')
    this.#host = host
  }

  /** Makes the directory at the first session of an agent. */
  static async open(
    home: KnownHome,
    agent: string,
    host: AgentHost | null,
    userDirectory: string,
  ): Promise<AgentHome> {
    const place = join(home.state, AGENTS, agent.replaceAll(/[^\w.-]/g, '_'))
    const made = new AgentHome(place, host)
    const isNew = !existsSync(made.directory)
    mkdirSync(made.directory, { recursive: true, mode: PRIVATE })
    if (isNew) await made.#begin(userDirectory)
    return made
  }

  /** Removes what the agent makes again at its start. Another session of the agent may use it. */
  clear(): void {
    const globs = parsedGlobs(this.#host?.state.remade)
    if (globs.length === 0) return
    for (const { path } of filesBelow(this.directory)) {
      if (isAmong(globs, path)) rmSync(join(this.directory, path), { force: true })
    }
  }

  /** The files of the agent's logins that lie in it, each with what that means. */
  logins(): readonly string[] {
    const logins = this.#host?.state.logins ?? []
    return logins.flatMap(({ file, risk }) =>
      existsSync(join(this.directory, file)) ? [`~/${file}: ${risk}`] : [],
    )
  }

  /**
   * Finds the parts that run code or grant rights and are not as a person accepted them. That the agent
   * trusts a directory in which a person started it is no change.
   */
  async changedPowers(own: readonly string[]): Promise<FoundPowers> {
    const accepted = this.#acceptedBefore()
    const workspaces = [...new Set([...accepted.workspaces, ...own])]
    const powers = await powersOf(this.directory, this.#host)
    return {
      changes: powerChanges(accepted.powers, powers, this.#host, workspaces),
      accept: () => this.#write({ workspaces, powers }),
    }
  }

  /** Accepts files that writ itself wrote; of all others nothing is accepted. */
  async acceptFiles(files: readonly string[]): Promise<void> {
    if (files.length === 0) return
    const { workspaces, powers: before } = this.#acceptedBefore()
    const now = await powersOf(this.directory, this.#host)
    const others = Object.entries(before).filter(([file]) => !files.includes(file))
    const own = Object.entries(now).filter(([file]) => files.includes(file))
    this.#write({ workspaces, powers: Object.fromEntries([...others, ...own]) })
  }

  /** Without a file that says so, nothing was accepted. */
  #acceptedBefore(): Accepted {
    const text = readIfThere(this.#accepted)
    // `#write` wrote it whole; an earlier version wrote digests without `powers`.
    const { workspaces = [], powers = {} } = JSON.parse(text ?? '{}') as Partial<Accepted>
    return { workspaces, powers }
  }

  #write(accepted: Accepted): void {
    writeWhole(this.#accepted, JSON.stringify(accepted), 0o600)
  }

  async #begin(userDirectory: string): Promise<void> {
    const state = this.#host?.state
    const logins = (state?.logins ?? []).map(({ file }) => file)
    for (const name of [...(state?.copied ?? []), ...logins]) {
      const from = join(userDirectory, name)
      if (!existsSync(from)) continue
      const to = join(this.directory, name)
      mkdirSync(dirname(to), { recursive: true, mode: PRIVATE })
      cpSync(from, to, { recursive: true, dereference: true })
    }
    const identity = gitIdentity(readIfThere(join(userDirectory, '.gitconfig')) ?? '')
    if (identity !== '') writeWhole(join(this.directory, '.gitconfig'), identity, 0o600)
    this.#write({ workspaces: [], powers: await powersOf(this.directory, this.#host) })
  }
}

const SECTION = /^\s*\[\s*([^\]]+?)\s*\]\s*$/
const NAMED = /^\s*(?:name|email)\s*=/i

/** The part of git's configuration that says who commits; helpers, aliases and includes stay out. */
function gitIdentity(text: string): string {
  const kept: string[] = []
  let isUser = false
  for (const line of text.split('\n')) {
    const section = SECTION.exec(line)?.[1]
    if (section !== undefined) isUser = section.toLowerCase() === 'user'
    else if (isUser && NAMED.test(line)) kept.push(line.trim())
  }
  return kept.length === 0 ? '' : `[user]\n${kept.map((line) => `\t${line}\n`).join('')}`
}
