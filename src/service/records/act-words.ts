/** What an act is, in one line for people: its command, or its kind and what it acts on. */
import { showCommand, showName } from '../../base/index.ts'
import type { Operation, Proposal } from '../../contracts/index.ts'
import { quoteAll } from '../../machine/index.ts'

const WORDS_MAX = 120

export function actWords(proposal: Proposal): string {
  const { operation } = proposal
  const words = operation === undefined ? '' : operationWords(operation)
  const text = words === '' ? proposal.descriptor.action_type : words
  return text.length > WORDS_MAX ? `${text.slice(0, WORDS_MAX - 1)}…` : text
}

function operationWords(operation: Operation): string {
  switch (operation.type) {
    case 'COMMAND_EXECUTION':
      return showCommand(quoteAll(operation.argv))
    case 'NETWORK_REQUEST':
      return `${operation.method} ${showName(operation.url)}`
    case 'FILE_MOVE':
      return `FILE_MOVE ${showName(operation.from)}`
    case 'PACKAGE_INSTALL':
    case 'PACKAGE_REMOVE':
      return `${operation.manager} ${operation.packages.map(showName).join(' ')}`
    // Operations on one path, or without one.
    default:
      return 'path' in operation ? `${operation.type} ${showName(operation.path)}` : operation.type
  }
}
