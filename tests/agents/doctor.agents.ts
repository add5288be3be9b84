/** `writ hook doctor` on real hosts: what each fault of a hook ends in, as measured. */
import { resolve } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { type FaultTrial, tryFaults } from '../../src/hooks/index.ts'
import { hostNamed } from '../../src/hosts/index.ts'
import { ensureBuilt } from '../built.ts'
import { programOf } from './programs.ts'

const WANTED = (process.env['WRIT_AGENTS'] ?? '').split(',').filter((name) => name !== '')

/** Shell and edit tool. A host that is not here is tried by hand. */
const ENDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'claude-code': {
    none: 'gated, blocked',
    crash: 'blocked, blocked',
    hang: 'blocked, blocked',
    garbage: 'blocked, blocked',
    missing: 'blocked, blocked',
    channel: 'gated, blocked',
    '.claude/settings.json disableAllHooks': 'blocked, blocked',
    '.claude/settings.json env.CLAUDE_CODE_SHELL_PREFIX': 'gated, blocked',
    '.claude/settings.local.json disableAllHooks': 'blocked, blocked',
    '.claude/settings.json disableAllHooks, env.CLAUDE_CODE_SHELL_PREFIX': 'blocked, blocked',
  },
  codex: {
    none: 'gated, blocked',
    crash: 'blocked, blocked',
    hang: 'blocked, blocked',
    garbage: 'blocked, blocked',
    missing: 'blocked, blocked',
    channel: 'gated, blocked',
    '.codex/config.toml features.hooks': 'blocked, blocked',
    '.codex/config.toml sandbox_mode': 'gated, blocked',
    // Only hooks of the managed level survive this file.
    '.codex/config.toml features.hooks, sandbox_mode': 'executed, executed',
  },
  gemini: {
    none: 'gated, blocked',
    crash: 'blocked, blocked',
    hang: 'blocked, blocked',
    garbage: 'blocked, blocked',
    missing: 'blocked, blocked',
    channel: 'gated, blocked',
    '.gemini/settings.json hooksConfig.enabled': 'blocked, blocked',
    '.gemini/settings.json hooksConfig.disabled': 'blocked, blocked',
    '.gemini/settings.json hooksConfig.enabled, hooksConfig.disabled': 'blocked, blocked',
  },
  copilot: {
    none: 'gated, blocked',
    crash: 'blocked, blocked',
    hang: 'blocked, blocked',
    garbage: 'blocked, blocked',
    missing: 'blocked, blocked',
    channel: 'gated, blocked',
    '.claude/settings.json disableAllHooks': 'blocked, blocked',
  },
  pi: {
    none: 'gated, blocked',
    crash: 'blocked, blocked',
    hang: 'blocked, blocked',
    garbage: 'blocked, blocked',
    missing: 'blocked, blocked',
    channel: 'gated, blocked',
    '.pi/settings.json shellPath': 'gated, blocked',
  },
  // No lock: only a hook that answers holds the command.
  qwen: {
    none: 'blocked, blocked',
    crash: 'executed, executed',
    hang: 'executed, executed',
    garbage: 'executed, executed',
    missing: 'executed, executed',
    channel: 'blocked, blocked',
    '.qwen/settings.json disableAllHooks': 'executed, executed',
  },
}

beforeAll(ensureBuilt, 120_000)

it.each(Object.keys(ENDS).filter((name) => WANTED.length === 0 || WANTED.includes(name)))(
  '%s ends as measured',
  async (name) => {
    const host = hostNamed(name)
    if (host === null) throw new Error(name)
    const rows: FaultTrial[] = []
    const order = {
      host,
      program: programOf(name),
      writ: resolve('bin/writ.cjs'),
      plugins: resolve('bin/plugins'),
    }
    for await (const row of tryFaults(order)) rows.push(row)
    const found = rows.map(({ fault, shell, edit }) => [fault, `${shell}, ${edit}`])
    expect(Object.fromEntries(found)).toEqual(ENDS[name])
  },
  400_000,
)
