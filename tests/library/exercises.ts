/**
 * One exercise a library door: a function of the door and of plain data. The same function runs on
 * the sources under Node and on the built package in a browser; both must give the same answer.
 */
import type * as Constitution from '../../src/constitution/index.ts'
import type * as Contracts from '../../src/contracts/index.ts'
import type * as Flow from '../../src/flow/index.ts'
import type * as Gate from '../../src/gate/index.ts'
import type * as Root from '../../src/index.ts'
import type * as Ledger from '../../src/ledger/index.ts'

export interface DocumentCase {
  readonly contract: string
  readonly document: unknown
}

export interface RuleCase {
  readonly rulesets: readonly unknown[]
  readonly context: Readonly<Record<string, unknown>>
  readonly inputs: unknown
  readonly at: number
}

export interface NoteCase {
  readonly signed: string
  readonly keys: readonly string[]
}

export interface ProofCase {
  readonly index: number
  readonly size: number
  readonly leaf: string
  readonly root: string
  readonly path: readonly string[]
}

export function contracts(door: typeof Contracts, cases: readonly DocumentCase[]): unknown {
  return cases.map(({ contract, document }) => {
    const found = door.findContract(contract)
    return found === null ? 'no contract' : door.validate(found, document).violations
  })
}

export function constitution(door: typeof Constitution, cases: readonly RuleCase[]): unknown {
  return cases.map(({ rulesets, context, inputs, at }) => {
    const sources = rulesets.map((document) => ({ document }))
    // Any value may be given as inputs: the kernel refuses none.
    return door.establish(sources, context).evaluate(inputs as Constitution.Inputs, at)
  })
}

export function ledger(
  door: typeof Ledger,
  { notes, proofs }: { readonly notes: readonly NoteCase[]; readonly proofs: readonly ProofCase[] },
): unknown {
  const opened = notes.map(({ signed, keys }) => {
    const verifiers = keys.flatMap((text) => {
      const key = door.parseVerifierKey(text)
      return (key === null ? null : door.verifierFor(key)) ?? []
    })
    return door.openNote(signed, verifiers)
  })
  const included = proofs.map(({ leaf, root, path, ...rest }) =>
    door.verifyInclusion({
      ...rest,
      leaf: bytes(door, leaf),
      root: bytes(door, root),
      path: path.map((one) => bytes(door, one)),
    }),
  )
  return { opened: opened.map((one) => JSON.stringify(one)), included }
}

function bytes(door: typeof Ledger, hex: string): Uint8Array {
  return door.decodeHex(hex) ?? new Uint8Array()
}

export function gate(door: typeof Gate, judgements: readonly Gate.Judgement[]): unknown {
  return judgements.map((judgement) => door.decide({ ...judgement, lists: door.DEFAULT_LISTS }))
}

export function flow(door: typeof Flow, flows: readonly unknown[]): unknown {
  return flows.map((document) => door.checkFlow(document))
}

export function root(door: typeof Root, documents: readonly unknown[]): unknown {
  return documents.map((document) => door.digestDocument(document))
}
