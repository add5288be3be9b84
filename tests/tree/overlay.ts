/**
 * A bare overlay over a real directory, without the sandbox around it: for tests of what is read off
 * layers. A holder process keeps the namespace; commands are run inside it one after another.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Layer } from '../../src/sandbox/driver/driver.ts'

export interface Overlay {
  readonly layer: Layer
  /** Runs a script of sh in the merged directory; throws when it fails and `mayFail` is not set. */
  run(script: string, options?: { readonly mayFail?: boolean; readonly input?: string }): void
  /** Runs a program with the merged directory as its working directory. */
  exec(argv: readonly [string, ...string[]], input?: string): string
  close(): Promise<void>
}

export interface OverlayOptions {
  /** `memory`: a tmpfs as the driver uses it; `disk`: next to the work directory. */
  readonly upper?: 'memory' | 'disk'
  /** As root only: without a user namespace, so that every owner is known inside. */
  readonly everyOwner?: boolean
}

const SET_UP = `
set -e
if [ "$4" = memory ]; then mount -t tmpfs -o mode=700 writ "$2"; fi
mkdir "$2/u" "$2/w" "$2/m"
chmod "$3" "$2/u"
cd "$1"
mount -t overlay writ -o "userxattr,lowerdir=.,upperdir=$2/u,workdir=$2/w" "$2/m"
echo ready
read end
`

/** `work` is an empty directory of the caller's on the same filesystem. */
export async function openOverlay(
  root: string,
  work: string,
  { upper = 'memory', everyOwner = false }: OverlayOptions = {},
): Promise<Overlay> {
  mkdirSync(work, { recursive: true })
  const mode = (statSync(root).mode & 0o7777).toString(8)
  const holder = spawn(
    'unshare',
    [
      everyOwner ? '-m' : '-Umr',
      'setpriv',
      '--pdeathsig',
      'KILL',
      'sh',
      '-c',
      SET_UP,
      'sh',
      root,
      work,
      mode,
      upper,
    ],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  )
  await ready(holder)
  const inside = `/proc/${holder.pid}/root${work}`
  const layer: Layer = {
    root,
    upper: upper === 'memory' ? `${inside}/u` : join(work, 'u'),
    merged: `${inside}/m`,
    upperDevice: upper === 'memory' ? null : statSync(work).dev,
  }
  const user = everyOwner ? [] : ['--user', '--preserve-credentials']
  const enter = ['--target', String(holder.pid), ...user, '--mount']
  // Without capabilities, as in the sandbox: permission bits hold for the command.
  const place = ['sh', '-c', 'cd "$1"; shift; exec "$@"', 'sh', `${work}/m`]
  const drop = ['setpriv', '--bounding-set=-all', '--inh-caps=-all', '--']
  const exec = (argv: readonly string[], input?: string) => {
    const { status, stdout, stderr, error } = spawnSync(
      'nsenter',
      [...enter, '--', ...place, ...drop, ...argv],
      { encoding: 'latin1', timeout: 60_000, ...(input === undefined ? {} : { input }) },
    )
    if (error !== undefined) throw error
    return { status, stdout, stderr }
  }
  return {
    layer,
    run: (script, { mayFail = false, input } = {}) => {
      const { status, stderr } = exec(['sh', '-ec', script], input)
      if (status !== 0 && !mayFail) throw new Error(`the script failed: ${stderr}`)
    },
    exec: (argv, input) => {
      const { status, stdout, stderr } = exec(argv, input)
      if (status !== 0) throw new Error(`${argv[0]} failed: ${stderr}`)
      return stdout
    },
    close: async () => {
      holder.stdin.end()
      if (holder.exitCode === null && holder.signalCode === null) await once(holder, 'exit')
    },
  }
}

async function ready(holder: ChildProcess): Promise<void> {
  const said = await Promise.race([
    once(holder.stdout as NodeJS.ReadableStream, 'data').then(String),
    once(holder, 'exit').then(() => 'gone'),
  ])
  if (!said.startsWith('ready')) throw new Error('the overlay could not be mounted')
}
