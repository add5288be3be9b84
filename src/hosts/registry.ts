/** All adapters, and how a command line is recognised as one of them. */
import { CLAUDE_CODE } from './claude-code.ts'
import { CLINE } from './cline.ts'
import { CODEX } from './codex.ts'
import { COPILOT } from './copilot.ts'
import { CURSOR } from './cursor.ts'
import { GEMINI } from './gemini.ts'
import { GOOSE } from './goose.ts'
import type { AgentHost } from './host.ts'
import { KIRO } from './kiro.ts'
import { OPENCODE } from './opencode.ts'
import { PI } from './pi.ts'
import { QWEN } from './qwen.ts'
import { VSCODE } from './vscode.ts'
import { WINDSURF } from './windsurf.ts'

/** Measured ones first. */
export const HOSTS: readonly AgentHost[] = [
  CLAUDE_CODE,
  CODEX,
  GEMINI,
  COPILOT,
  OPENCODE,
  CLINE,
  PI,
  QWEN,
  CURSOR,
  VSCODE,
  WINDSURF,
  KIRO,
  GOOSE,
]

/** By its name here, or by the name of its program. */
export function hostNamed(name: string): AgentHost | null {
  return (
    HOSTS.find((host) => host.name === name) ??
    HOSTS.find((host) => host.programs.includes(name)) ??
    null
  )
}

export interface RecognisedHost {
  readonly host: AgentHost
  /** The index of the word that names the program; the host's own arguments follow it. */
  readonly at: number
}

/** Programs that run another program, with their options that take a value. */
const CARRIERS: Readonly<Record<string, readonly string[]>> = {
  env: ['-u', '--unset', '-C', '--chdir', '-S', '--split-string'],
  nice: ['-n', '--adjustment'],
  nohup: [],
  npx: ['-p', '--package', '-c', '--call', '-w', '--workspace'],
  bunx: ['-p', '--package'],
  pnpx: [],
  node: ['-r', '--require', '--loader', '--env-file', '-C', '--conditions', '--import'],
  bun: [],
  deno: [],
}

/** Programs with a first word that makes them carriers. */
const CARRYING_WORDS: Readonly<Record<string, readonly string[]>> = {
  npm: ['exec', 'x'],
  pnpm: ['exec', 'dlx'],
  yarn: ['exec', 'dlx', 'run'],
  bun: ['x', 'run'],
  deno: ['run'],
}

/**
 * Returns the host that a command line starts. `resolve` returns the real path of a program, such as
 * the file that a link in a `bin` directory leads to, or null.
 */
export function recogniseHost(
  argv: readonly string[],
  resolve: (program: string) => string | null = () => null,
): RecognisedHost | null {
  for (let at = 0; at < argv.length; ) {
    // `at` is an index of `argv`.
    const word = argv[at] as string
    const host = hostOfWord(word) ?? hostOfPath(resolve(word))
    if (host !== null) return { host, at }
    const next = carriedAt(argv, at)
    if (next === null) return null
    at = next
  }
  return null
}

/** The index of the program that a carrier starts; null if the word is no carrier. */
function carriedAt(argv: readonly string[], at: number): number | null {
  const name = programName(argv[at] ?? '')
  let next = at + 1
  if (Object.hasOwn(CARRYING_WORDS, name) && CARRYING_WORDS[name]?.includes(argv[next] ?? '')) {
    next++
  } else if (!Object.hasOwn(CARRIERS, name)) return null
  const withValue = CARRIERS[name] ?? ['-p', '--package']
  while (next < argv.length) {
    // The loop's condition bounds the index.
    const word = argv[next] as string
    if (word === '--') return next + 1
    if (withValue.includes(word)) next += 2
    else if (word.startsWith('-') || /^[A-Za-z_]\w*=/.test(word)) next++
    else return next
  }
  return null
}

function hostOfWord(word: string): AgentHost | null {
  const named = HOSTS.find(({ packages }) => packages.includes(withoutVersion(word)))
  if (named !== undefined) return named
  const name = programName(word)
  return HOSTS.find(({ programs }) => programs.includes(name)) ?? hostOfPath(word)
}

/** A path into a package of a host, as below `node_modules`. */
function hostOfPath(path: string | null): AgentHost | null {
  if (path === null) return null
  const package_ = /.*(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]
  if (package_ !== undefined)
    return HOSTS.find(({ packages }) => packages.includes(package_)) ?? null
  const name = programName(path)
  return HOSTS.find(({ programs }) => programs.includes(name)) ?? null
}

function programName(word: string): string {
  return word.slice(word.lastIndexOf('/') + 1).replace(/\.(?:c|m)?js$|\.exe$|\.sh$/, '')
}

function withoutVersion(word: string): string {
  return word.replace(/(?<=.)@[^/]*$/, '')
}
