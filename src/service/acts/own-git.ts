/** Runs git for a held push, without a program of the agent. */
import { existsSync } from 'node:fs'
import { faultError } from '../../base/index.ts'
import { type InstalledEnd, requireProgram, runInstalled } from '../../machine/index.ts'

const LOCAL_MS = 60_000

/** Git without any configuration but that of the directory's own repository. */
export function ownGit(cwd: string, words: readonly string[]): Promise<InstalledEnd> {
  return runInstalled({
    argv: [requireProgram('git'), '--no-pager', ...words],
    cwd: existsSync(cwd) ? cwd : '/',
    variables: {
      PATH: '/usr/bin:/bin',
      LC_ALL: 'C.UTF-8',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_OPTIONAL_LOCKS: '0',
    },
    limitMs: LOCAL_MS,
  })
}

export function required(end: InstalledEnd): InstalledEnd {
  if (end.status === 0) return end
  throw faultError('request.failed', '', `the push cannot be held: ${failureOf(end)}`)
}

export function failureOf({ stdout, stderr }: InstalledEnd): string {
  const refused = stdout.split('\n').find((line) => line.startsWith('!'))
  const lines = stderr.split('\n').filter((line) => line.trim() !== '')
  const words = refused?.split('\t').slice(1).join(' ') ?? lines.at(-1) ?? 'git failed'
  return words.replaceAll(/\p{Cc}/gu, ' ').slice(0, 500)
}
