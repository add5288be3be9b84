/**
 * How an operation is rehearsed: as a command inside the sandbox. Operations on files become the
 * everyday tools that do them, so that there is one way of running, watching and bounding an act.
 *
 * Scripts are constant; what a document says reaches them as arguments only.
 *
 * Package managers as commands. The contract has judged the names, and they follow `--`, so no name is
 * taken for an option. Lifecycle scripts run as every command does: sandboxed, bounded and compared.
 *
 * Without a declared network the command gets the manager's offline options: otherwise the manager
 * waits for a network that does not exist.
 */
import { digestDocument } from '../../base/index.ts'
import {
  type HeldRequest,
  modeBits,
  type Operation,
  type Proposal,
  parseWebAddress,
  type WebAddress,
} from '../../contracts/index.ts'
import { leavesOf } from '../paths/places.ts'

export interface OperationCommand {
  readonly argv: readonly [string, ...string[]]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly stdin: Uint8Array | 'empty'
}

/** Null for a kind of act that is not run as a command. */
export function commandOf(operation: Operation): OperationCommand | null {
  switch (operation.type) {
    case 'FILE_READ':
      return plain(['cat', '--', operation.path])
    case 'FILE_WRITE':
      return writeCommand(operation)
    case 'FILE_DELETE':
      return plain(['rm', '--', ...operation.paths])
    case 'FILE_MOVE':
      return script(MOVE, [operation.from, operation.to, parentOf(operation.to)])
    case 'DIRECTORY_CREATE':
      return plain(['mkdir', '-p', '--', operation.path])
    case 'DIRECTORY_DELETE':
      return operation.recursive
        ? script(DELETE_TREE, [operation.path])
        : plain(['rmdir', '--', operation.path])
    case 'COMMAND_EXECUTION': {
      const [program = '', ...rest] = operation.argv
      const stdin = operation.stdin === undefined ? 'empty' : encoder.encode(operation.stdin)
      return { argv: [program, ...rest], cwd: operation.cwd, env: operation.env ?? {}, stdin }
    }
    case 'PACKAGE_INSTALL':
    case 'PACKAGE_REMOVE':
    case 'NETWORK_REQUEST':
    case 'CONFIG_CHANGE':
    case 'UI_AUTOMATION':
      return null
    default:
      return operation satisfies never
  }
}

const encoder = new TextEncoder()
const WRITE = 'mkdir -p -- "$2" && cat > "$1" && { [ -z "$3" ] || chmod -- "$3" "$1"; }'
const MOVE = 'mkdir -p -- "$3" && mv -T -f -- "$1" "$2"'
/** A link to a directory is no directory here: what it leads to is not what was named. */
const DELETE_TREE = 'if [ -d "$1" ] && [ ! -L "$1" ]; then rm -r -- "$1"; else rmdir -- "$1"; fi'

function writeCommand(operation: Extract<Operation, { type: 'FILE_WRITE' }>): OperationCommand {
  const { path, content, content_base64: encoded, mode } = operation
  const bytes = content === undefined ? fromBase64(encoded ?? '') : encoder.encode(content)
  const digits = mode === undefined ? '' : modeBits(mode).toString(8).padStart(4, '0')
  return { ...script(WRITE, [path, parentOf(path), digits]), stdin: bytes }
}

function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (unit) => unit.charCodeAt(0))
}

function script(text: string, values: readonly string[]): OperationCommand {
  return plain(['/bin/sh', '-c', text, 'writ', ...values])
}

function plain(argv: readonly [string, ...string[]]): OperationCommand {
  return { argv, cwd: '/', env: {}, stdin: 'empty' }
}

function parentOf(path: string): string {
  const end = path.lastIndexOf('/')
  return end <= 0 ? '/' : path.slice(0, end)
}

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

type NetworkRequest = Extract<Operation, { type: 'NETWORK_REQUEST' }>

/** A request as it would be sent. */
export interface ComposedRequest {
  readonly stepId: string
  readonly operation: NetworkRequest
  readonly address: WebAddress
  readonly isSecure: boolean
  readonly held: HeldRequest
}

/**
 * Held requests (G-16): composed and digested from what a proposal says, never sent here. The digest
 * covers everything that would leave the machine, so an approval of it is one of exactly these
 * bytes. The requests of a proposal in the order in which they would be sent.
 */
export function composeRequests(proposal: Proposal): readonly ComposedRequest[] {
  return leavesOf(proposal).flatMap(({ proposal: { descriptor, operation } }) => {
    if (operation?.type !== 'NETWORK_REQUEST') return []
    const composed = composeRequest(descriptor.action_id, operation)
    return composed === null ? [] : [composed]
  })
}

export function heldRequests(proposal: Proposal): readonly HeldRequest[] {
  return composeRequests(proposal).map(({ held }) => held)
}

/** Null for an address that the contract refuses. */
function composeRequest(stepId: string, operation: NetworkRequest): ComposedRequest | null {
  const address = parseWebAddress(operation.url)
  if (address === null) return null
  const { method, headers = {}, body, save_to, compensation } = operation
  const url = new URL(operation.url)
  url.hash = ''
  const whole = url.href
  const hasQuery = url.search !== ''
  url.search = ''
  const held: HeldRequest = {
    step_id: stepId,
    method,
    url: url.href,
    has_query: hasQuery,
    header_names: Object.keys(headers).sort(),
    body_bytes: body === undefined ? 0 : requestEncoder.encode(body).length,
    digest: digestDocument({ method, url: whole, headers, body: body ?? null }),
    ...(save_to === undefined ? {} : { save_to }),
    ...(compensation === undefined ? {} : { compensation: compensation.type }),
  }
  return { stepId, operation, address, isSecure: url.protocol === 'https:', held }
}

const requestEncoder = new TextEncoder()

/** Returns the path that the operation saves its response in: an effect that no rehearsal shows. */
export function awaitedPaths(operation: Operation | undefined): readonly string[] {
  return operation?.type === 'NETWORK_REQUEST' && operation.save_to !== undefined
    ? [operation.save_to]
    : []
}
