/**
 * The programs that this process was started by, nearest first. Whether one of them is a known agent
 * is the gate's question; an agent can hide itself, so the answer only makes things stricter.
 */
import { readFileSync } from 'node:fs'
import { AGENT_MARKS } from '../../gate/index.ts'

const DEPTH_MAX = 64

/**
 * Names of the programs of the parent chain, as far as this user can see, and of agents that left a
 * mark in the environment.
 */
export function ancestorNames(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): readonly string[] {
  const names = Object.entries(AGENT_MARKS).flatMap(([mark, agent]) =>
    environment[mark] === undefined || environment[mark] === '' ? [] : [agent],
  )
  let pid = process.ppid
  for (let depth = 0; depth < DEPTH_MAX && pid > 1; depth++) {
    const process = readProcess(pid)
    if (process === null) break
    names.push(...process.names)
    pid = process.parent
  }
  return names
}

function readProcess(pid: number): { names: readonly string[]; parent: number } | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const name = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'))
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
    const argv = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
    return { names: [name, ...programNames(argv)].filter((word) => word !== ''), parent }
  } catch {
    return null
  }
}

const INTERPRETER =
  /^(?:node|nodejs|bun|deno|python|pypy|ruby|java|uv|uvx|npx|bunx|pipx|tsx)[\d.]*$/
/** Scripts whose name says nothing; the directory of the package does. */
const UNTOLD = /^(?:index|main|cli|bin|run|start|entry|app|__main__)(?:\.\w+)?$/
const INNER = new Set(['dist', 'lib', 'bin', 'build', 'src', 'out', 'bundle', 'esm', 'cjs'])

/** Returns the names that a command line tells: of the program, and of what an interpreter runs. */
export function programNames(argv: readonly string[]): readonly string[] {
  const [first = '', ...rest] = argv
  const program = lastName(first)
  const second = lastName(rest[0] ?? '')
  if (!INTERPRETER.test(program)) return [program, second]
  return [program, second, ...rest.slice(0, WORDS_LOOKED_AT).flatMap(wordNames)]
}

/** Options of an interpreter come before what it runs, some with a word of their own. */
const WORDS_LOOKED_AT = 8

/** Returns the names in a word: of a module its first part, of a script its file or package. */
function wordNames(word: string): readonly string[] {
  if (word.startsWith('-')) return []
  if (!word.includes('/')) return [word, ...word.split('.').slice(0, 1)]
  const names = word.split('/').filter((part) => part !== '' && part !== '.')
  const script = names.pop() ?? ''
  if (!UNTOLD.test(script)) return [script]
  return [script, ...names.filter((part) => !INNER.has(part)).slice(-1)]
}

function lastName(word: string): string {
  return word.slice(word.lastIndexOf('/') + 1)
}
