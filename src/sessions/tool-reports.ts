/**
 * What the agent's hooks report (S-4, S-5): the end of a tool call is a boundary, and the file of an edit
 * tool is a declaration. Reports are the agent's words: they make a decision stricter, never milder.
 */
import { realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { digestDocument } from '../base/index.ts'
import type { SessionMark } from '../contracts/index.ts'
import type { ToolReport } from '../hosts/index.ts'

const WORD_MAX = 200
const PATHS_MAX = 100
const OPEN_MAX = 1_000

type ReportedCall =
  | { readonly kind: 'begun' }
  /** Settles now; `tool` says after what. */
  | { readonly kind: 'ended'; readonly tool: SessionMark['tool'] }
  | { readonly kind: 'other' }

export class ToolReports {
  readonly #cwd: string
  readonly #open = new Set<string>()
  #count = 0

  constructor(cwd: string) {
    this.#cwd = cwd
  }

  /** Whether hooks report at all. */
  get isHeard(): boolean {
    return this.#count > 0
  }

  /** Whether a tool call is under way. */
  get isOpen(): boolean {
    return this.#open.size > 0
  }

  /** Fails if it is no report. */
  take(report: unknown): ReportedCall {
    const read = readReport(report)
    this.#count++
    const { boundary, call, tool } = read
    const key = call ?? tool ?? ''
    if (boundary === 'before') {
      if (this.#open.size < OPEN_MAX) this.#open.add(key)
      return { kind: 'begun' }
    }
    if (boundary === 'stop' || boundary === 'prompt') this.#open.clear()
    if (boundary === 'stop') return { kind: 'ended', tool: undefined }
    if (boundary !== 'after') return { kind: 'other' }
    this.#open.delete(key)
    // While another call runs, its changes cannot be distinguished from those of this one.
    return { kind: 'ended', tool: this.#markOf(read, this.#open.size === 0) }
  }

  #markOf({ tool, call, kind, paths, model, arguments: given }: Reported, isAlone: boolean) {
    if (tool === null) return undefined
    const isEdit = kind === 'edit' && isAlone && paths.length > 0
    return {
      name: cut(tool),
      ...(call === null ? {} : { call_id: cut(call) }),
      ...(model === null ? {} : { model: cut(model) }),
      ...(isEdit ? { paths: paths.slice(0, PATHS_MAX).map((path) => this.#realPath(path)) } : {}),
      arguments_digest: digestDocument(given),
    }
  }

  #realPath(path: string): string {
    const whole = resolve(this.#cwd, path)
    try {
      return join(realpathSync(dirname(whole)), basename(whole))
    } catch {
      // Its directory is new, and so no link.
      return whole
    }
  }
}

type Reported = Pick<
  ToolReport,
  'arguments' | 'boundary' | 'call' | 'kind' | 'model' | 'paths' | 'tool'
>

/** Every field that is not of its type counts as absent. */
function readReport(report: unknown): Reported {
  if (typeof report !== 'object' || report === null) throw new Error('the report is no object')
  // Each field is checked below.
  const found = report as Readonly<Record<string, unknown>>
  const text = (name: string): string | null => {
    const value = found[name]
    return typeof value === 'string' && value !== '' ? value : null
  }
  const boundary = BOUNDARIES.find((known) => known === found['boundary'])
  if (boundary === undefined) throw new Error('the report names no boundary')
  const paths = Array.isArray(found['paths']) ? found['paths'] : []
  const given = found['arguments']
  return {
    boundary,
    call: text('call'),
    tool: text('tool'),
    model: text('model'),
    kind: KINDS.find((known) => known === found['kind']) ?? null,
    paths: paths.filter((path) => typeof path === 'string' && path !== ''),
    // An object, by the check.
    arguments: typeof given === 'object' && given !== null ? (given as Reported['arguments']) : {},
  }
}

const BOUNDARIES = ['before', 'after', 'stop', 'prompt', 'start'] as const
const KINDS = ['shell', 'edit', 'other'] as const

function cut(text: string): string {
  return text.slice(0, WORD_MAX)
}
