/**
 * What an operation is inside the sandbox: one command for each kind of act, or why this machine has
 * none for it. A held request is nothing there: it is composed, digested and sent by the host after a
 * yes, so what runs in its place does nothing.
 */
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { FaultError, fault } from '../../base/index.ts'
import type { ActionDescriptor, Operation } from '../../contracts/index.ts'
import {
  commandOf,
  type OperationCommand,
  PACKAGE_MANAGERS,
  packageCommand,
} from '../../gate/index.ts'
import { browserCommand } from './browser.ts'
import { insideCommand } from './inside.ts'

interface ActSurroundings {
  readonly descriptor: ActionDescriptor
  /** Where programs are looked for inside. */
  readonly path: string
}

const NOTHING: OperationCommand = { argv: ['true'], cwd: '/', env: {}, stdin: 'empty' }

export function actCommand(operation: Operation, around: ActSurroundings): OperationCommand {
  switch (operation.type) {
    case 'CONFIG_CHANGE': {
      const { path, format, set, unset } = operation
      return insideCommand('config-change', { path, format, set, unset })
    }
    case 'PACKAGE_INSTALL':
    case 'PACKAGE_REMOVE':
      return managerCommand(operation, around)
    case 'NETWORK_REQUEST':
      return NOTHING
    case 'UI_AUTOMATION':
      return browserCommand(operation, around.descriptor, around.path)
    default: {
      const command = commandOf(operation)
      if (command === null) throw missing(operation.type, 'this kind of act cannot be rehearsed')
      return command
    }
  }
}

function managerCommand(
  operation: Extract<Operation, { type: 'PACKAGE_INSTALL' | 'PACKAGE_REMOVE' }>,
  { descriptor, path }: ActSurroundings,
): OperationCommand {
  const { manager } = operation
  const command = packageCommand(operation, descriptor.sandbox.allow_network)
  if (command === null) {
    const known = Object.keys(PACKAGE_MANAGERS).join(', ')
    throw missing(manager, `packages of \`${manager}\` cannot be changed; known are ${known}`)
  }
  const [program] = command.argv
  if (!isOnPath(program, path)) {
    const hint = PACKAGE_MANAGERS[manager]?.hint ?? ''
    throw missing(manager, `\`${manager}\` is not installed; install it with: ${hint}`)
  }
  return command
}

export function missing(what: string, message: string): FaultError {
  return new FaultError(fault('sandbox.control_missing', what, null, { message }))
}

export function isOnPath(program: string, path: string): boolean {
  if (program.startsWith('/')) return isExecutable(program)
  return path.split(delimiter).some((folder) => isExecutable(join(folder, program)))
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
