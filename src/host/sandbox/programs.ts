/**
 * The programs of the machine that a sandbox is made of, by their full paths: never by a PATH that
 * somebody else set. All but two are essential packages of Debian.
 */
import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'
import { sandboxFailure } from './failure.ts'

const FOLDERS = ['/usr/bin', '/bin', '/usr/sbin', '/sbin']

/** The Debian package that brings each. */
const PACKAGES = {
  bwrap: 'bubblewrap',
  unshare: 'util-linux',
  setpriv: 'util-linux',
  nsenter: 'util-linux',
  script: 'bsdutils',
  strace: 'strace',
  mount: 'mount',
  sh: 'dash',
  bash: 'bash',
  mkfifo: 'coreutils',
  stty: 'coreutils',
  chmod: 'coreutils',
  rm: 'coreutils',
  getfattr: 'attr',
  perl: 'perl-base',
} as const

export type Program = keyof typeof PACKAGES

const FOUND = new Map<Program, string>()

export function findProgram(name: Program): string | null {
  const known = FOUND.get(name)
  if (known !== undefined) return known
  for (const folder of FOLDERS) {
    const path = join(folder, name)
    if (!isExecutable(path)) continue
    FOUND.set(name, path)
    return path
  }
  return null
}

export function requireProgram(name: Program): string {
  const path = findProgram(name)
  if (path !== null) return path
  const message = `the program \`${name}\` is not installed`
  throw sandboxFailure('sandbox.control_missing', name, message, installCommand(name))
}

export function installCommand(name: Program): string {
  return `sudo apt-get install -y ${PACKAGES[name]}`
}

/** All that programs of ours get to see of the environment. */
export const PROGRAM_ENV = { PATH: FOLDERS.join(':'), LC_ALL: 'C' } as const

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
