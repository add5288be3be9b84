/**
 * The proposals that tools make of plain arguments. Paths are absolute or relative to the workspace,
 * which is the scope: what lies outside of it is refused by the gate, not here.
 */
import { randomUUID } from 'node:crypto'
import { isAbsolute, resolve } from 'node:path'
import { type Operation, type Proposal, plainDescriptor, programName } from '../contracts/index.ts'
import { EDIT_SCRIPT } from '../words/index.ts'

interface Intent {
  readonly says: string
  readonly operation: Operation
  /** Globs of what may be created or changed. */
  readonly write?: readonly string[]
  /** Globs of what may be deleted. */
  readonly remove?: readonly string[]
  /** Hosts that it may reach. */
  readonly hosts?: readonly string[]
  readonly seconds?: number
  /** Nothing is declared: a human's yes to the shown effects declares them. */
  readonly isDeclaredByApproval?: boolean
}

const SECONDS = 600

function proposalOf(workspace: string, intent: Intent): Proposal {
  const { write = [], remove = [], hosts = [], seconds = SECONDS, operation } = intent
  const milliseconds = seconds * 1_000
  const descriptor = plainDescriptor({
    actionId: randomUUID(),
    createdAt: new Date().toISOString(),
    says: intent.says,
    type: operation.type,
    scope: [workspace],
    write,
    remove,
    hosts,
    resources: {
      max_cpu_ms: milliseconds,
      max_memory_mb: 4_096,
      max_disk_mb: 4_096,
      max_duration_ms: milliseconds,
    },
    isDeclaredByApproval: intent.isDeclaredByApproval === true,
  })
  return { descriptor, operation }
}

/** `path` as the gate takes it. */
function absolute(workspace: string, path: string): string {
  return isAbsolute(path) ? resolve(path) : resolve(workspace, path)
}

interface CommandOrder {
  readonly argv: readonly string[]
  readonly cwd?: string
  readonly writes?: readonly string[]
  readonly deletes?: readonly string[]
  readonly hosts?: readonly string[]
  readonly seconds?: number
}

export function commandProposal(workspace: string, order: CommandOrder): Proposal {
  const { argv, cwd = '.', writes = [], deletes = [], hosts = [], seconds } = order
  const [program = ''] = argv
  const globs = (list: readonly string[]) => list.map((glob) => absolute(workspace, glob))
  return proposalOf(workspace, {
    says: `Run ${programName(program)}.`,
    operation: { type: 'COMMAND_EXECUTION', argv: [...argv], cwd: absolute(workspace, cwd) },
    write: globs(writes),
    remove: globs(deletes),
    hosts,
    isDeclaredByApproval: isUndeclared(order),
    ...(seconds === undefined ? {} : { seconds }),
  })
}

export function isUndeclared({ writes = [], deletes = [] }: CommandOrder): boolean {
  return writes.length === 0 && deletes.length === 0
}

export function writeProposal(workspace: string, path: string, content: string): Proposal {
  const target = absolute(workspace, path)
  return proposalOf(workspace, {
    says: 'Write a file.',
    operation: { type: 'FILE_WRITE', path: target, content },
    write: [target],
  })
}

export function deleteProposal(workspace: string, path: string, isRecursive: boolean): Proposal {
  const target = absolute(workspace, path)
  return proposalOf(workspace, {
    says: isRecursive ? 'Delete a directory.' : 'Delete a file.',
    operation: isRecursive
      ? { type: 'DIRECTORY_DELETE', path: target, recursive: true }
      : { type: 'FILE_DELETE', paths: [target] },
    remove: isRecursive ? [target, `${target}/**`] : [target],
  })
}

interface EditOrder {
  readonly path: string
  readonly old_text: string
  readonly new_text: string
  readonly replace_all?: boolean
}

export function editProposal(workspace: string, order: EditOrder): Proposal {
  const { old_text, new_text, replace_all = false } = order
  const target = absolute(workspace, order.path)
  const words = [target, old_text, new_text, replace_all ? 'all' : 'one']
  return proposalOf(workspace, {
    says: 'Edit a file.',
    operation: {
      type: 'COMMAND_EXECUTION',
      argv: [process.execPath, '-e', EDIT_SCRIPT, '--', ...words],
      cwd: workspace,
      env: { NODE_OPTIONS: '', NODE_PATH: '' },
    },
    write: [target],
  })
}
