/**
 * What of the machine is hidden. Three kinds: places that root could read and processes inside should
 * not (other users' homes, /var/lib, the secrets of /etc, traces of the kernel), files of /proc that
 * reach the kernel, and what the request names. Places under a scope root are never masked by the first
 * kind.
 */
import { existsSync, lstatSync, readdirSync } from 'node:fs'
import { SYSTEM_CLOCK } from '../../machine/index.ts'
import { isWithin } from '../kernel/mount-table.ts'

export interface Mask {
  readonly path: string
  readonly kind: 'directory' | 'file'
  /** An access is refused, instead of finding an empty place. */
  readonly isBanned?: true
}

const ROOT_DIRECTORIES = ['/home', '/root', '/var/lib', '/var/spool', '/var/backups']

/** Where the kernel lets itself be looked into; the filesystem's own root may read all of it. */
const KERNEL_DIRECTORIES = ['/sys/kernel/debug', '/sys/kernel/tracing', '/sys/kernel/security']

const ETC_SECRETS = [
  'shadow',
  'shadow-',
  'gshadow',
  'gshadow-',
  'sudoers',
  'sudoers.d',
  'ssl/private',
  'ssh/ssh_host_rsa_key',
  'ssh/ssh_host_ecdsa_key',
  'ssh/ssh_host_ed25519_key',
  'ssh/ssh_host_dsa_key',
  'security/opasswd',
  'krb5.keytab',
  'wireguard',
  'NetworkManager/system-connections',
  'ppp/chap-secrets',
  'ppp/pap-secrets',
  'ipsec.secrets',
]

const PROC = {
  readOnly: ['sys'],
  hiddenDirectories: ['irq', 'bus', 'fs', 'acpi', 'scsi'],
  hiddenFiles: ['kmsg', 'mtrr', 'keys', 'kcore', 'sysrq-trigger', 'timer_list'],
}

/**
 * Masks for runs as root. They are mounted before the overlays, so that a scope root inside one of them
 * is visible again. Searched for again only every few seconds, since these places rarely change.
 */
export class SystemMasks {
  #found: readonly Mask[] = []
  #untilMs = 0

  outside(scopeRoots: readonly string[]): readonly Mask[] {
    if (process.getuid?.() !== 0) return []
    if (SYSTEM_CLOCK.elapsedMs() >= this.#untilMs) {
      this.#found = masksOf([
        ...ROOT_DIRECTORIES,
        ...etcSecrets(),
        ...KERNEL_DIRECTORIES.filter(hasEntries),
      ])
      this.#untilMs = SYSTEM_CLOCK.elapsedMs() + KNOWN_MS
    }
    return this.#found.filter(({ path }) => !scopeRoots.some((root) => isWithin(path, root)))
  }
}

const KNOWN_MS = 3000

/** Mostly nothing is mounted there, and an empty directory needs no mask. */
function hasEntries(directory: string): boolean {
  try {
    return readdirSync(directory).length > 0
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT' // Thrown by readdirSync.
  }
}

function etcSecrets(): readonly string[] {
  return [...ETC_SECRETS.map((name) => `/etc/${name}`), ...sshKeys()]
}

function sshKeys(): readonly string[] {
  try {
    return readdirSync('/etc/ssh')
      .filter((name) => /_key$/.test(name))
      .map((name) => `/etc/ssh/${name}`)
  } catch {
    return []
  }
}

/** Each path once; what is not there needs no mask, and a path below a masked directory neither. */
export function masksOf(
  paths: readonly string[],
  kindAt: (path: string) => Mask['kind'] | null = kindOf,
  banned: ReadonlySet<string> = new Set(),
): readonly Mask[] {
  const masks: Mask[] = []
  for (const path of [...new Set(paths)].sort()) {
    if (masks.some((mask) => isWithin(path, mask.path))) continue
    const kind = kindAt(path)
    if (kind === null) continue
    masks.push(banned.has(path) ? { path, kind, isBanned: true } : { path, kind })
  }
  return masks
}

function kindOf(path: string): Mask['kind'] | null {
  try {
    const found = lstatSync(path)
    // A symbolic link is no place; what it leads to is masked by its own name.
    if (found.isSymbolicLink()) return null
    return found.isDirectory() ? 'directory' : 'file'
  } catch (error) {
    // A place that cannot be looked at cannot be looked at inside either, but its parent may be
    // opened up later: only what is surely not there is passed over.
    const { code } = error as NodeJS.ErrnoException
    return code === 'ENOENT' || code === 'ENOTDIR' || code === 'EACCES' ? null : 'file'
  }
}

export interface ProcMasks {
  readonly readOnly: readonly string[]
  readonly hiddenDirectories: readonly string[]
  readonly hiddenFiles: readonly string[]
}

/** As root, whom the kernel lets write to them: bubblewrap's fresh /proc is not enough. */
export function procMasks(): ProcMasks {
  const present = (names: readonly string[]): readonly string[] =>
    names.map((name) => `/proc/${name}`).filter((path) => existsSync(path))
  return {
    readOnly: present(PROC.readOnly),
    hiddenDirectories: present(PROC.hiddenDirectories),
    hiddenFiles: present(PROC.hiddenFiles),
  }
}
