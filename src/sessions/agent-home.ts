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
import { digestBytes, digestDocument } from '../base/index.ts'
import { type Glob, matchesPath, parseGlob } from '../contracts/index.ts'
import type { KnownHome } from '../home/index.ts'
import type { AgentHost } from '../hosts/index.ts'
import { readIfThere, writeWhole } from '../machine/index.ts'
import { filesBelow } from './files-below.ts'
import { homePowers } from './home-powers.ts'

const AGENTS = 'agents'
const PRIVATE = 0o700

export class AgentHome {
  /** What the agent sees as its home. */
  readonly directory: string
  /** What writ keeps about it. */
  readonly place: string
  readonly #accepted: string
  readonly #host: AgentHost | null

  /** Makes the directory at the first session of an agent. */
  constructor(home: KnownHome, agent: string, host: AgentHost | null, userDirectory: string) {
    const place = join(home.state, AGENTS, agent.replaceAll(/[^\w.-]/g, '_'))
    this.place = place
    this.directory = join(place, 'home')
    this.#accepted = join(place, 'accepted.json')
    this.#host = host
    const isNew = !existsSync(this.directory)
    mkdirSync(this.directory, { recursive: true, mode: PRIVATE })
    if (isNew) this.#begin(userDirectory)
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

  /** Parts that run code or grant rights and are not as a person accepted them. */
  changedPowers(): readonly string[] {
    const now = this.#powers()
    const before = this.#acceptedPowers()
    if (before === null) return []
    const names = new Set([...Object.keys(before), ...Object.keys(now)])
    return [...names].filter((name) => before[name] !== now[name]).sort()
  }

  /** From now on these parts are as a person wants them. */
  accept(): void {
    writeWhole(this.#accepted, JSON.stringify(this.#powers()), 0o600)
  }

  /** The same for files that writ itself wrote; of all others nothing is accepted. */
  acceptFiles(files: readonly string[]): void {
    if (files.length === 0) return
    const now = this.#powers()
    const others = Object.entries(this.#acceptedPowers() ?? {}).filter(([name]) => !isOf(name))
    const own = Object.entries(now).filter(([name]) => isOf(name))
    writeWhole(this.#accepted, JSON.stringify(Object.fromEntries([...others, ...own])), 0o600)

    /** Of a file with mixed contents there is a name for each key. */
    function isOf(name: string): boolean {
      return files.some((file) => name === file || name.startsWith(`${file} `))
    }
  }

  #acceptedPowers(): Readonly<Record<string, string>> | null {
    const text = readIfThere(this.#accepted)
    // `accept` wrote it whole.
    return text === null ? null : (JSON.parse(text) as Readonly<Record<string, string>>)
  }

  #begin(userDirectory: string): void {
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
    rmSync(this.#accepted, { force: true })
    this.accept()
  }

  /** Digests of all files that run code or grant rights, and of such keys of mixed files. */
  #powers(): Readonly<Record<string, string>> {
    const { powers = [], remade = [], mixed = [] } = this.#host?.state ?? {}
    const [globs, left] = [parsedGlobs(powers), parsedGlobs(remade)]
    const found: Record<string, string> = { ...homePowers(this.directory) }
    for (const { path, bytes } of filesBelow(this.directory)) {
      if (!isAmong(globs, path) || isAmong(left, path)) continue
      const digest = powerDigest(path, bytes())
      if (digest !== null) found[path] = digest
    }
    for (const { file, keys } of mixed) {
      const document = parsed(readIfThere(join(this.directory, file)))
      for (const key of keys) {
        const value = valuesAt(document, key)
        if (value.length > 0) found[`${file} ${key.join('.')}`] = digestDocument(value)
      }
    }
    return found
  }
}

function parsedGlobs(globs: readonly string[] = []): readonly Glob[] {
  return globs.flatMap((glob) => parseGlob(`/${glob}`) ?? [])
}

function isAmong(globs: readonly Glob[], path: string): boolean {
  return globs.some((glob) => matchesPath(glob, `/${path}`))
}

/**
 * JSON counts by its values, without the version that a host notes of its own form: hosts write their
 * settings again in another layout. Null for a file that says nothing.
 */
function powerDigest(path: string, bytes: Uint8Array): string | null {
  if (path.endsWith('.toml')) return tomlDigest(bytes)
  const document = path.endsWith('.json') ? parsed(Buffer.from(bytes).toString('utf8')) : null
  if (document === null || typeof document !== 'object') return digestBytes(bytes)
  const { $version: _, ...rest } = document as Readonly<Record<string, unknown>> // An object.
  const isEmpty = !Array.isArray(document) && Object.keys(rest).length === 0
  return isEmpty ? null : digestDocument(Array.isArray(document) ? document : rest)
}

/** A table in which Codex notes that it asked about a project; it ends with the next table. */
const NOTED_PROJECT =
  /^\[projects\."[^"\n]*"\][ \t]*\n(?:[ \t]*trust_level[ \t]*=[ \t]*"[a-z]+"[ \t]*(?:\n|$)|[ \t]*\n)+(?=\[|$)/gm

/** TOML counts without what the agent notes of projects for itself: that starts nothing. */
function tomlDigest(bytes: Uint8Array): string | null {
  const text = Buffer.from(bytes).toString('latin1')
  const rest = text.replace(NOTED_PROJECT, '')
  if (rest === text) return digestBytes(bytes)
  const kept = rest.trimEnd()
  return kept === '' ? null : digestBytes(Buffer.from(`${kept}\n`, 'latin1'))
}

/** A file that is no JSON has no keys. */
function parsed(text: string | null): unknown {
  try {
    return text === null ? null : JSON.parse(text)
  } catch {
    return null
  }
}

/** The values at a path of keys; `*` is any key. */
function valuesAt(value: unknown, [key, ...rest]: readonly string[]): readonly unknown[] {
  if (key === undefined) return value === undefined ? [] : [value]
  if (typeof value !== 'object' || value === null) return []
  const names = key === '*' ? Object.keys(value).sort() : [key]
  // Own keys only; an absent one gives undefined.
  return names.flatMap((name) => {
    const inner = Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined
    return valuesAt(inner, rest)
  })
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
