/**
 * What was found while a table and its side file were read as a flow: each with the file it is about
 * and, in the table, line and column; in the side file, a pointer.
 */
import type { Code } from '../../base/index.ts'

export interface ImportFinding {
  readonly level: 'error' | 'warning'
  readonly code: Code
  readonly file: 'edges' | 'side'
  /** JSON Pointer, in the side file; empty in the table. */
  readonly path: string
  /** In the table, from 1; absent in the side file, whose reader knows. */
  readonly line?: number
  readonly column?: number
  readonly message: string
  readonly hint?: string
}

interface CellPlace {
  readonly line: number
  readonly column: number
}

export class ImportReport {
  readonly findings: ImportFinding[] = []

  refuse(code: Code, place: CellPlace, message: string, hint?: string | null): void {
    this.#add('error', code, place, message, hint)
  }

  warn(code: Code, place: CellPlace, message: string, hint?: string | null): void {
    this.#add('warning', code, place, message, hint)
  }

  /** About the side file. */
  tellSide(
    level: ImportFinding['level'],
    code: Code,
    path: string,
    message: string,
    hint?: string | null,
  ): void {
    this.findings.push({ level, code, file: 'side', path, message, ...hinted(hint) })
  }

  #add(
    level: ImportFinding['level'],
    code: Code,
    { line, column }: CellPlace,
    message: string,
    hint?: string | null,
  ): void {
    const place = { file: 'edges' as const, path: '', line, column }
    this.findings.push({ level, code, ...place, message, ...hinted(hint) })
  }
}

function hinted(hint: string | null | undefined): { readonly hint?: string } {
  return hint === undefined || hint === null ? {} : { hint }
}
