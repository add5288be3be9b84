/**
 * Schemas that were compiled when the program was built, by the name of their contract: writing and
 * reading their code takes longer than a short command. From sources none are; the build puts the
 * functions of every contract here (tools/structures.mjs), made by the same compiler.
 */
import type { Accepts } from './compile.ts'

export const MADE_AHEAD: ReadonlyMap<string, () => Accepts> = new Map()
