/**
 * Where an operation reaches: the paths and web addresses it names itself, each with its place in
 * the document. What a command does with its arguments is not here: the rehearsal sees it.
 */
import { at } from '../../base/index.ts'
import { elements, field, isObject, type JsonObject } from '../kernel/contract.ts'
import type { OperationType } from './operation.ts'
import { fileAddressPath } from './web-address.ts'

export interface OperationPlace {
  /** JSON Pointer relative to the operation. */
  readonly place: string
  readonly text: string
}

/** Which fields of each type hold one path. Lists and steps are read besides. */
const PATH_FIELDS: Readonly<Record<OperationType, readonly string[]>> = {
  FILE_READ: ['path'],
  FILE_WRITE: ['path'],
  FILE_DELETE: [],
  FILE_MOVE: ['from', 'to'],
  DIRECTORY_CREATE: ['path'],
  DIRECTORY_DELETE: ['path'],
  COMMAND_EXECUTION: ['cwd'],
  PACKAGE_INSTALL: ['cwd'],
  PACKAGE_REMOVE: ['cwd'],
  NETWORK_REQUEST: ['save_to'],
  UI_AUTOMATION: [],
  CONFIG_CHANGE: ['path'],
}

/** An operation and its compensations, outermost first, each with its place. Depth is the guard's. */
export function operationChain(
  operation: unknown,
): readonly { readonly place: string; readonly operation: JsonObject }[] {
  const chain = []
  let place = ''
  for (let next = operation; isObject(next); next = field(next, 'compensation')) {
    chain.push({ place, operation: next })
    place = `${place}/compensation`
  }
  return chain
}

/** The paths that one operation names, its working directory included, without compensations. */
export function operationPaths(operation: unknown): readonly OperationPlace[] {
  const type = field(operation, 'type')
  if (typeof type !== 'string' || !Object.hasOwn(PATH_FIELDS, type)) return []
  // Own keys of the table are operation types.
  const reaches = textFields(operation, PATH_FIELDS[type as OperationType], '')
  if (type === 'FILE_DELETE') return textItems(field(operation, 'paths'), '/paths')
  if (isPackages(type)) {
    return [
      ...reaches,
      ...packageReaches(operation, (reach) => (reach.kind === 'path' ? reach.path : null)),
    ]
  }
  if (type !== 'UI_AUTOMATION') return reaches
  const pages = pagesOf(operation).flatMap(({ place, text }) => {
    const path = fileAddressPath(text)
    return path === null ? [] : [{ place, text: path }]
  })
  return [...pages, ...stepFields(operation, 'screenshot', 'save_to')]
}

/** The web addresses that one operation names, without compensations. */
export function operationAddresses(operation: unknown): readonly OperationPlace[] {
  const type = field(operation, 'type')
  if (type === 'NETWORK_REQUEST') return textFields(operation, ['url'], '')
  if (isPackages(type)) {
    return packageReaches(operation, (reach) => (reach.kind === 'address' ? reach.url : null))
  }
  if (type !== 'UI_AUTOMATION') return []
  return pagesOf(operation).filter(({ text }) => fileAddressPath(text) === null)
}

/** Pages of the web and of the scope alike. */
function pagesOf(operation: unknown): readonly OperationPlace[] {
  return [...textFields(operation, ['start_url'], ''), ...stepFields(operation, 'goto', 'url')]
}

function isPackages(type: unknown): boolean {
  return type === 'PACKAGE_INSTALL' || type === 'PACKAGE_REMOVE'
}

/** Packages that are files or addresses and not names. */
function packageReaches(
  operation: unknown,
  pick: (reach: PackageReach) => string | null,
): readonly OperationPlace[] {
  const manager = field(operation, 'manager')
  return textItems(field(operation, 'packages'), '/packages').flatMap(({ place, text }) => {
    const reach = packageReach(typeof manager === 'string' ? manager : '', text)
    const picked = reach === null ? null : pick(reach)
    return picked === null ? [] : [{ place, text: picked }]
  })
}

function stepFields(operation: unknown, action: string, name: string): OperationPlace[] {
  const steps = elements(field(operation, 'steps'))
  return steps.flatMap((step, index) =>
    field(step, 'action') === action ? textFields(step, [name], `/steps/${index}`) : [],
  )
}

function textFields(object: unknown, names: readonly string[], parent: string): OperationPlace[] {
  const reaches: OperationPlace[] = []
  for (const name of names) {
    const text = field(object, name)
    if (typeof text === 'string') reaches.push({ place: at(parent, name), text })
  }
  return reaches
}

function textItems(list: unknown, parent: string): OperationPlace[] {
  const reaches: OperationPlace[] = []
  for (const [index, text] of elements(list).entries()) {
    if (typeof text === 'string') reaches.push({ place: at(parent, index), text })
  }
  return reaches
}

const NPM_NAME =
  /^(?:@[a-z0-9~-][a-z0-9._~-]{0,100}\/)?[a-z0-9~-][a-z0-9._~-]{0,213}(?<rest>@.{1,100})?$/i
/** A version, a range of versions, or a tag. */
const NPM_VERSION =
  /^@(?:[\^~<>=v]{0,2}\s?[0-9xX*][0-9A-Za-z.+*-]*(?:\s(?:\|\|\s|-\s)?[\^~<>=v]{0,2}[0-9xX*][0-9A-Za-z.+*-]*){0,7}|[a-z][0-9a-z._-]*)$/i
const PIP_NAME =
  /^[a-z0-9](?:[a-z0-9._-]{0,200}[a-z0-9])?(?:\[[a-z0-9._, -]{1,200}\])?(?:\s?(?:===?|[~!<>]=|[<>])\s?[0-9a-z.*+!_-]{1,100}(?:\s?,\s?(?:===?|[~!<>]=|[<>])\s?[0-9a-z.*+!_-]{1,100}){0,7})?$/i

export type PackageReach =
  | { readonly kind: 'name' }
  /** An archive or a directory, which has to lie inside the scope. */
  | { readonly kind: 'path'; readonly path: string }
  /** An archive on a host that the scope has to name. */
  | { readonly kind: 'address'; readonly url: string }

/**
 * What the list of a package operation may hold: names with versions, and, to install, files and
 * addresses that the proposal declares. Options, git repositories, aliases and relative paths are
 * refused: they reach places that no declaration names. What an entry of the list reaches for; null
 * for what may not stand there.
 */
export function packageReach(manager: string, text: string): PackageReach | null {
  if (text.startsWith('-')) return null
  if (text.startsWith('/') || text.startsWith('file:/')) {
    return { kind: 'path', path: text.replace(/^file:(?:\/\/)?(?=\/)/, '') }
  }
  if (/^https?:\/\//i.test(text)) return { kind: 'address', url: text }
  return isName(manager, text) ? { kind: 'name' } : null
}

function isName(manager: string, text: string): boolean {
  if (manager === 'pip') return PIP_NAME.test(text)
  const { rest } = NPM_NAME.exec(text)?.groups ?? {}
  if (!NPM_NAME.test(text)) return false
  return rest === undefined || NPM_VERSION.test(rest)
}
