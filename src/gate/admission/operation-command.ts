/**
 * How an operation is rehearsed: as a command inside the sandbox. Operations on files become the
 * everyday tools that do them, so that there is one way of running, watching and bounding an act.
 *
 * Scripts are constant; what a document says reaches them as arguments only.
 */
import { modeBits, type Operation } from '../../contracts/index.ts'

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
    default:
      return null
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
