/** Shapes and checks that the gate's own records share. */
import * as Type from 'typebox'
import { isIsoMoment, parseIsoMomentMs, show, showName } from '../../base/index.ts'
import { type Check, field, type Subject } from '../kernel/contract.ts'

export { ActionId, closed, DigestText } from '../descriptor/shapes.ts'

/** How strongly the host is bound to what it promises (see the overview's trust levels). */
export const TRUST_LEVELS = ['seatbelt', 'keeper', 'witnessed'] as const

/** That it is a moment is a semantic check: no pattern knows the calendar. */
export const Moment = Type.String()

export const Count = Type.Integer({ minimum: 0, 'x-code': { minimum: 'count' } })

export const Word = Type.String({ minLength: 1, 'x-code': { minLength: 'empty' } })

/** A reason that a person gives, in words that are not blank. */
export const Reason = Type.String({
  pattern: '\\S',
  'x-code': { pattern: 'empty' },
  'x-says': 'a reason in words',
})

/** Every named field is a moment. */
export function checkMoments(names: readonly string[]): Check {
  return ({ document, report }) => {
    for (const name of names) {
      const moment = field(document, name)
      if (typeof moment !== 'string' || isIsoMoment(moment)) continue
      const message = `${show(moment, '')} is not an ISO 8601 date and time with an offset`
      report.add('gate_record.moment', `/${name}`, message)
    }
  }
}

/** No later field is before an earlier one; told at the later one. */
export function checkOrder(names: readonly string[]): Check {
  return ({ document, report }) => {
    let last: { readonly name: string; readonly ms: number } | null = null
    for (const name of names) {
      const ms = momentMs(field(document, name))
      if (ms === null) continue
      if (last !== null && ms < last.ms) {
        const message = `${showName(name)} lies before ${showName(last.name)}`
        report.add('gate_record.time_order', `/${name}`, message)
      } else {
        last = { name, ms }
      }
    }
  }
}

export function momentMs(value: unknown): number | null {
  return typeof value === 'string' ? parseIsoMomentMs(value) : null
}

/** Reports a field that the rest of the document makes meaningless. */
export function refuseField({ document, report }: Subject, name: string, because: string): void {
  if (!Object.hasOwn(document, name)) return
  report.add('gate_record.misplaced', `/${name}`, `${showName(name)} has no meaning ${because}`)
}

/** Reports the absence of a field that the rest of the document demands. */
export function demandField({ document, report }: Subject, name: string, because: string): void {
  if (Object.hasOwn(document, name)) return
  report.add('gate_record.required', `/${name}`, `${showName(name)} is missing ${because}`)
}
