/**
 * What a flow may not take from the host: the names of state fields that the host keeps, and the
 * strength of the invariants that are built in.
 */
import { at, showName } from '../../base/index.ts'
import { elements, field, isObject, type Subject } from '../kernel/contract.ts'
import { BUILT_IN_INVARIANTS, HOST_FIELDS } from './vocabulary.ts'

const HOST: ReadonlySet<string> = new Set(HOST_FIELDS)
const BUILT_IN: ReadonlySet<string> = new Set(BUILT_IN_INVARIANTS)
const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/

export function checkStateNames({ document, report }: Subject): void {
  const fields = field(document['state'], 'fields')
  if (!isObject(fields)) return
  for (const name of Object.keys(fields)) {
    const path = at('/state/fields', name)
    if (HOST.has(name)) {
      report.add(
        'flow.reserved_field',
        path,
        `the host keeps ${showName(name)}, so a flow cannot declare it`,
      )
    } else if (!IDENTIFIER.test(name)) {
      report.add(
        'flow.field_name',
        path,
        `${showName(name)} cannot be written as \`state.name\` in an expression`,
        'use letters, digits and underscores, and begin with no digit',
      )
    }
  }
}

/** Restating a built-in invariant is legal; letting the flow go on where it fails is not (F-4). */
export function checkBuiltIns({ document, report }: Subject): void {
  const invariants = elements(document['invariants'])
  for (let index = 0; index < invariants.length; index++) {
    const id = field(invariants[index], 'invariant_id')
    if (typeof id !== 'string' || !BUILT_IN.has(id)) continue
    if (field(invariants[index], 'fail_action') !== 'alert') continue
    report.add(
      'flow.invariant_weaker',
      `/invariants/${index}/fail_action`,
      `${showName(id)} is built in and stops the flow, so \`alert\` would weaken it`,
      'use `block` or `rerun`, or leave it out',
    )
  }
}
