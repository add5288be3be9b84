/** The ways in which a hook fails, and the program that fails in each of them. */
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { editConfiguration } from '../../configuration/index.ts'
import type { AgentHost } from '../../hosts/index.ts'

export interface HookFault {
  readonly name: string
  readonly says: string
  /** Statements of the hook program before it does its work. */
  readonly script: string
  readonly isMissing: boolean
  /** A file of the repository that switches something off. */
  readonly file: { readonly path: string; readonly text: string } | null
  readonly variables: Readonly<Record<string, string>>
}

const NONE = { script: '', isMissing: false, file: null, variables: {} } as const

/** Longer than any limit that a trial sets. */
const HANG_MS = 120_000

const OF_ALL: readonly HookFault[] = [
  { ...NONE, name: 'none', says: 'the hook works' },
  { ...NONE, name: 'crash', says: 'the hook ends with status 1', script: 'process.exit(1)' },
  {
    ...NONE,
    name: 'hang',
    says: 'the hook does not answer',
    script: `return setTimeout(() => {}, ${HANG_MS})`,
  },
  {
    ...NONE,
    name: 'garbage',
    says: 'the hook prints text that is no JSON',
    script: "process.stdout.write('ready {\\n'); process.exit(0)",
  },
  { ...NONE, name: 'missing', says: 'the hook program is gone', isMissing: true },
  {
    ...NONE,
    name: 'channel',
    says: 'a variable names the channel of a session that is closed',
    variables: { WRIT_SESSION_CHANNEL: 'http://127.0.0.1:9/token' },
  },
]

/** The faults of a host: those of every hook, and the files of a repository that switch it off. */
export async function faultsOf({ switches }: AgentHost): Promise<readonly HookFault[]> {
  const single = switches.map((one) => fileFault(one.file, [one]))
  const files = [...new Set(switches.map(({ file }) => file))]
  const whole = files
    .map((file) => ({ file, all: switches.filter((one) => one.file === file) }))
    .filter(({ all }) => all.length > 1)
    .map(({ file, all }) => fileFault(file, all))
  return [...OF_ALL, ...(await Promise.all([...single, ...whole]))]
}

/** A file of the repository with some of the keys that switch something off. */
async function fileFault(file: string, keys: AgentHost['switches']): Promise<HookFault> {
  const format = file.endsWith('.toml') ? 'toml' : 'json'
  const set = Object.fromEntries(keys.map((one) => [`/${one.keys.join('/')}`, one.example]))
  const edited = await editConfiguration(format === 'json' ? '{}\n' : '', {
    format,
    set,
    unset: [],
  })
  const text = edited.ok ? edited.text : ''
  const name = `${file} ${keys.map((one) => one.keys.join('.')).join(', ')}`
  const says = `a file of the repository ${keys.map(({ effect }) => effect).join(', and ')}`
  return { ...NONE, name, says, file: { path: file, text } }
}

/** Where the programs of a trial lie, and the mark that they leave. */
interface FaultyPrograms {
  readonly writ: string
  readonly shell: string
  /** Exists once a command was handed to `writ exec` or to `writ-shell`. */
  readonly mark: string
}

/**
 * Writes the two programs that the configuration will name. They answer events as writ does, with the
 * fault before it. A command that is handed to them leaves a mark and does not run.
 */
export function writePrograms(folder: string, real: string, fault: HookFault): FaultyPrograms {
  const programs = {
    writ: join(folder, 'writ'),
    shell: join(folder, 'writ-shell'),
    mark: join(folder, 'gated'),
  }
  const script = `#!/usr/bin/env node
const { writeFileSync } = require('node:fs')
function start() {
  if (process.argv[2] === 'exec') return writeFileSync(${JSON.stringify(programs.mark)}, '')
  ${fault.script}
  require(${JSON.stringify(real)}).start()
}
start()
`
  const shell = `#!/bin/sh
case "$*" in
  *'${programs.writ} hook event'*) for text; do :; done; exec /bin/bash -c "$text";;
esac
: > ${programs.mark}
`
  for (const [file, text] of [
    [programs.writ, script],
    [programs.shell, shell],
  ] as const) {
    writeFileSync(file, text)
    chmodSync(file, 0o755)
  }
  return programs
}

/** Brings the fault about in a project whose hooks are installed. */
export function injectFault(fault: HookFault, project: string, { writ }: FaultyPrograms): void {
  if (fault.isMissing) rmSync(writ)
  if (fault.file === null) return
  const file = join(project, fault.file.path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, fault.file.text)
}
