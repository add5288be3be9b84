/**
 * What an operation promises beyond its shape: exact paths, addresses that can be called, content
 * that can be written, key paths that do not fight. Compensations are judged like their operation.
 */
import { at, type Code, pointerSteps, show, showName } from '../../base/index.ts'
import { type Check, elements, field, isObject, type Subject } from '../kernel/contract.ts'
import type { Report } from '../kernel/violation.ts'
import { operationAddresses, operationChain, operationPaths } from './operation-places.ts'
import { pathFault, sayPathFault } from './path.ts'
import { isBase64 } from './shapes.ts'
import { parseWebAddress } from './web-address.ts'

const COMPENSATIONS_MAX = 8
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/** Headers that the sender writes itself. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'upgrade',
  'expect',
  'te',
  'trailer',
  'proxy-authorization',
  'proxy-connection',
])

type PartCheck = (operation: unknown, place: string, report: Report) => void

/** Runs a check on an operation and on each of its compensations. */
function alongChain(check: PartCheck): Check {
  return ({ document, report }: Subject) => {
    for (const { place, operation } of operationChain(document)) check(operation, place, report)
  }
}

function checkDepth({ document, report }: Subject): void {
  const tooDeep = operationChain(document)[COMPENSATIONS_MAX + 1]
  if (tooDeep === undefined) return
  const message = `compensations nest more than ${COMPENSATIONS_MAX} deep`
  report.add('operation.compensation_depth', tooDeep.place, message)
}

function checkPaths(operation: unknown, parent: string, report: Report): void {
  for (const { place: step, text } of operationPaths(operation)) {
    const place = `${parent}${step}`
    const fault = pathFault(text)
    if (fault !== null) {
      report.add(`operation.${fault}` satisfies Code, place, sayPathFault(fault, show(text, place)))
    } else if (text.includes('*')) {
      const message = `${show(text, place)} holds a wildcard, but an operation names exact paths`
      report.add('operation.wildcard', place, message, 'list the paths one by one')
    }
  }
}

function checkAddresses(operation: unknown, parent: string, report: Report): void {
  for (const { place: step, text } of operationAddresses(operation)) {
    if (parseWebAddress(text) !== null) continue
    const place = `${parent}${step}`
    // Credentials and query texts are secrets that no list of keys can find.
    const shown = /[@?#]/.test(text) ? 'the address' : show(text, place)
    report.add(
      'operation.url',
      place,
      `${shown} is not a plain http or https URL without user name and password`,
    )
  }
}

function checkContent(operation: unknown, parent: string, report: Report): void {
  if (field(operation, 'type') !== 'FILE_WRITE' || !isObject(operation)) return
  const given = ['content', 'content_base64'].filter((name) => Object.hasOwn(operation, name))
  if (given.length !== 1) {
    const found = given.length === 0 ? 'none of them' : 'both'
    const message = `expected exactly one of \`content\` and \`content_base64\`, found ${found}`
    report.add('operation.content', at(parent, 'content'), message)
  }
  const encoded = field(operation, 'content_base64')
  if (typeof encoded !== 'string' || isBase64(encoded)) return
  const place = at(parent, 'content_base64')
  report.add('operation.base64', place, 'the content is not base64 with its padding')
}

function checkArguments(operation: unknown, parent: string, report: Report): void {
  if (field(operation, 'type') !== 'COMMAND_EXECUTION') return
  const argv = elements(field(operation, 'argv'))
  for (let index = 0; index < argv.length; index++) {
    const argument = argv[index]
    const place = `${parent}/argv/${index}`
    if (typeof argument !== 'string') continue
    if (index === 0 && argument === '') {
      report.add('operation.argv', place, 'the program to run has no name')
    } else if (argument.includes('\0')) {
      report.add('operation.argv', place, `the argument ${show(argument, place)} holds a NUL`)
    }
  }
}

function checkEnvironment(operation: unknown, parent: string, report: Report): void {
  if (field(operation, 'type') !== 'COMMAND_EXECUTION') return
  const place = at(parent, 'env')
  checkTexts(field(operation, 'env'), (name, value) => {
    const isName = name !== '' && !name.includes('=') && !name.includes('\0')
    if (isName && !value.includes('\0')) return
    const message = `the variable ${showName(name)} cannot be set: its name or value is not legal`
    report.add('operation.env', at(place, name), message)
  })
}

function checkHeaders(operation: unknown, parent: string, report: Report): void {
  if (field(operation, 'type') !== 'NETWORK_REQUEST') return
  const place = at(parent, 'headers')
  checkTexts(field(operation, 'headers'), (name, value) => {
    // A line break would start another header; some headers say where a request goes and ends.
    const isFree = !OWN_HEADERS.has(name.toLowerCase())
    if (HEADER_NAME.test(name) && isFree && !/[\r\n\0]|[^\x20-\xff\t]/.test(value)) return
    const message = `the header ${showName(name)} cannot be sent: its name or value is not legal`
    report.add('operation.header', at(place, name), message)
  })
}

function checkTexts(texts: unknown, check: (name: string, value: string) => void): void {
  if (!isObject(texts)) return
  for (const name of Object.keys(texts)) {
    const value = texts[name]
    if (typeof value === 'string') check(name, value)
  }
}

function checkPackages(operation: unknown, parent: string, report: Report): void {
  const type = field(operation, 'type')
  if (type !== 'PACKAGE_INSTALL' && type !== 'PACKAGE_REMOVE') return
  const packages = elements(field(operation, 'packages'))
  for (let index = 0; index < packages.length; index++) {
    const name = packages[index]
    // A leading dash would be an option of the package manager.
    if (typeof name !== 'string' || /^(?!-)\s*[^\s\p{Cc}][^\p{Cc}]*$/u.test(name)) continue
    const place = `${parent}/packages/${index}`
    report.add('operation.package', place, `${show(name, place)} is no package name`)
  }
}

function checkConfiguration(operation: unknown, parent: string, report: Report): void {
  if (field(operation, 'type') !== 'CONFIG_CHANGE') return
  const set = field(operation, 'set')
  const unset = field(operation, 'unset')
  if (!isObject(set) || !Array.isArray(unset)) return
  const keys = [
    ...Object.keys(set).map((text) => ({ text, place: at(`${parent}/set`, text) })),
    ...unset.flatMap((text: unknown, index) =>
      typeof text === 'string' ? [{ text, place: `${parent}/unset/${index}` }] : [],
    ),
  ]
  if (keys.length === 0 && unset.length === 0) {
    report.add('operation.empty', at(parent, 'set'), 'nothing is set and nothing is unset')
  }
  const paths = keys.map(({ text }) => parseKeyPath(text))
  const overlapping = overlappingKeyPaths(paths)
  for (const [index, { text, place }] of keys.entries()) {
    if (paths[index] === null) {
      const message = `${show(text, place)} is no key path such as \`server.port\` or \`/server/port\``
      report.add('operation.key_path', place, message)
    } else if (overlapping.has(index)) {
      const message = `the key path ${show(text, place)} is named twice or lies below another one`
      report.add('operation.key_path', place, message)
    }
  }
}

export const OPERATION_CHECKS: readonly Check[] = [
  checkDepth,
  ...[
    checkPaths,
    checkAddresses,
    checkContent,
    checkArguments,
    checkEnvironment,
    checkHeaders,
    checkPackages,
    checkConfiguration,
  ].map(alongChain),
]

const KEY_PATH_LENGTH_MAX = 1_024

/**
 * Key paths of a CONFIG_CHANGE: `server.port`, or a JSON Pointer `/server/port` for keys that hold a
 * dot or a slash. Both are read to the list of keys from the top down. The keys of a key path; null
 * when one is empty or an escape is broken.
 */
export function parseKeyPath(text: string): readonly string[] | null {
  if (text.length > KEY_PATH_LENGTH_MAX || text.includes('\0')) return null
  if (text.startsWith('/')) return /~(?![01])/.test(text) ? null : nonEmpty(pointerSteps(text))
  return nonEmpty(text.split('.'))
}

function nonEmpty(keys: readonly string[]): readonly string[] | null {
  return keys.some((key) => key === '') ? null : keys
}

/**
 * Returns the positions of key paths that equal another one or lie below it: writing both would depend
 * on an order that an object does not have. Sorts once, so that a path follows the one above it.
 */
export function overlappingKeyPaths(
  paths: readonly (readonly string[] | null)[],
): ReadonlySet<number> {
  const ordered = paths
    .flatMap((keys, index) => (keys === null ? [] : [{ index, text: `${keys.join('\0')}\0` }]))
    .sort((left, right) =>
      left.text < right.text ? -1 : left.text > right.text ? 1 : left.index - right.index,
    )
  const overlapping = new Set<number>()
  let above: string | null = null
  for (const { index, text } of ordered) {
    if (above !== null && text.startsWith(above)) overlapping.add(index)
    else above = text
  }
  return overlapping
}
