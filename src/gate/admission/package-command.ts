/**
 * Package managers as commands. The contract has judged the names, and they follow `--`, so no name is
 * taken for an option. Lifecycle scripts run as every command does: sandboxed, bounded and compared.
 *
 * Without a declared network the command gets the manager's offline options: otherwise the manager
 * waits for a network that does not exist.
 */
import type { Operation } from '../../contracts/index.ts'
import type { OperationCommand } from './operation-command.ts'

type PackageOperation = Extract<Operation, { type: 'PACKAGE_INSTALL' | 'PACKAGE_REMOVE' }>

interface ManagerWords {
  readonly install: readonly string[]
  readonly remove: readonly string[]
  readonly offline: readonly string[]
  /** How to get the manager itself. */
  readonly hint: string
}

export const PACKAGE_MANAGERS: Readonly<Record<string, ManagerWords>> = {
  npm: {
    install: ['npm', 'install', '--no-audit', '--no-fund', '--no-progress'],
    remove: ['npm', 'uninstall', '--no-audit', '--no-fund', '--no-progress'],
    offline: ['--offline'],
    hint: 'apt-get install npm',
  },
  pnpm: {
    install: ['pnpm', 'add', '--reporter=append-only'],
    remove: ['pnpm', 'remove', '--reporter=append-only'],
    offline: ['--offline'],
    hint: 'npm install --global pnpm',
  },
  yarn: {
    install: ['yarn', 'add', '--non-interactive'],
    remove: ['yarn', 'remove', '--non-interactive'],
    offline: ['--offline'],
    hint: 'npm install --global yarn',
  },
  pip: {
    install: ['install', '--no-input'],
    remove: ['uninstall', '--yes'],
    offline: ['--no-index'],
    hint: 'python3 -m venv .venv',
  },
}

/**
 * The packages of a project lie in its own environment; without one there is no place for them inside
 * any scope, and the machine's own packages are not the project's.
 */
const PIP =
  'for d in .venv venv; do [ -x "$d/bin/python" ] && exec "$d/bin/python" -m pip "$@"; done; ' +
  'echo "no virtual environment here: python3 -m venv .venv" >&2; exit 69'

/** Null for a manager that is not known. */
export function packageCommand(
  { type, manager, packages, cwd }: PackageOperation,
  hasNetwork: boolean,
): OperationCommand | null {
  const words = Object.hasOwn(PACKAGE_MANAGERS, manager) ? PACKAGE_MANAGERS[manager] : undefined
  if (words === undefined) return null
  const isInstall = type === 'PACKAGE_INSTALL'
  const line = [
    ...(isInstall ? words.install : words.remove),
    ...(isInstall && !hasNetwork ? words.offline : []),
    '--',
    ...packages,
  ]
  const argv: readonly string[] = manager === 'pip' ? ['/bin/sh', '-c', PIP, 'pip', ...line] : line
  // The first word is one of the table's.
  return { argv: argv as OperationCommand['argv'], cwd, env: {}, stdin: 'empty' }
}
