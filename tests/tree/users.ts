/**
 * Tests that must hold for root and for an ordinary user alike. As root both are tried, the second as
 * a user without groups or capabilities; as anybody else, only as oneself.
 */

import { spawn } from 'node:child_process'
import { chmodSync, copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { programFile } from '../ledger/program.ts'

export type TestUser = 'self' | 'ordinary'

/** The number of a user that owns nothing. */
export const ORDINARY_UID = 1777

export const TEST_USERS: readonly TestUser[] =
  process.getuid?.() === 0 ? ['self', 'ordinary'] : ['self']

/** Before the command: what makes it run as that user. */
export function asUser(user: TestUser): readonly string[] {
  const id = String(ORDINARY_UID)
  const to = ['setpriv', '--reuid', id, '--regid', id, '--clear-groups', '--inh-caps=-all', '--']
  return user === 'self' ? [] : to
}

export interface Ended {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs a TypeScript program; its file is put where every user can read it. */
export async function runAs(
  user: TestUser,
  source: string,
  input: unknown,
  timeoutMs: number,
): Promise<Ended> {
  const folder = mkdtempSync(join(tmpdir(), 'writ-program-'))
  try {
    const built = await programFile(source)
    const file = join(folder, basename(built))
    copyFileSync(built, file)
    chmodSync(folder, 0o755)
    const argv = [...asUser(user), process.execPath, file, JSON.stringify(input)]
    return await ended(argv, folder, timeoutMs)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function ended(argv: readonly string[], cwd: string, timeoutMs: number): Promise<Ended> {
  const [command = '', ...args] = argv
  const env = { PATH: process.env['PATH'], HOME: tmpdir(), TMPDIR: tmpdir() }
  const options = { cwd, env, timeout: timeoutMs, killSignal: 'SIGKILL' } as const
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (piece: Buffer) => {
    stdout += piece.toString()
  })
  child.stderr.on('data', (piece: Buffer) => {
    stderr += piece.toString()
  })
  return new Promise((resolved, rejected) => {
    child.on('error', rejected)
    child.on('close', (status) => resolved({ status, stdout, stderr }))
  })
}
