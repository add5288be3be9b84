/** The tools of a host: which run a shell, which edit files, and where their arguments lie. */
import { type JsonFields, textIn } from './fields.ts'
import type { ToolKind, ToolReport } from './report.ts'

export interface ToolNames {
  /** Shell tools, with the argument that holds the text for the shell. */
  readonly shell: Readonly<Record<string, string>>
  /** Edit tools, with the arguments that name files. */
  readonly edit: Readonly<Record<string, readonly string[]>>
  /** Edit tools that take a patch, with the argument that holds its text. */
  readonly patch?: Readonly<Record<string, string>>
}

type ToolParts = Pick<ToolReport, 'tool' | 'kind' | 'arguments' | 'command' | 'paths'>

export const NO_TOOL: ToolParts = {
  tool: null,
  kind: null,
  arguments: {},
  command: null,
  paths: [],
}

export function toolParts(names: ToolNames, tool: string, args: JsonFields): ToolParts {
  const shell = ownText(names.shell, tool)
  const patch = ownText(names.patch ?? {}, tool)
  const files = Object.hasOwn(names.edit, tool) ? names.edit[tool] : undefined
  let kind: ToolKind = 'other'
  if (shell !== null) kind = 'shell'
  else if (patch !== null || files !== undefined) kind = 'edit'
  const named = (files ?? []).flatMap((key) => textIn(args, key) ?? [])
  const patched = patch === null ? [] : pathsOfPatch(textIn(args, patch) ?? '')
  return {
    tool,
    kind,
    arguments: args,
    command: shell === null ? null : commandIn(args, shell),
    paths: [...named, ...patched],
  }
}

function ownText(table: Readonly<Record<string, string>>, key: string): string | null {
  return Object.hasOwn(table, key) ? (table[key] ?? null) : null
}

/** A text, or a list of texts, as Cline has it: one line each. */
function commandIn(args: JsonFields, argument: string): string | null {
  const list = args[argument]
  if (!Array.isArray(list)) return textIn(args, argument)
  const texts = list.filter((text) => typeof text === 'string')
  return texts.length > 0 && texts.length === list.length ? texts.join('\n') : null
}

const PATCHED = /^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+)$/gm

/** The files that a patch names, in the form of Codex. */
function pathsOfPatch(patch: string): readonly string[] {
  return [...new Set([...patch.matchAll(PATCHED)].map(([, path = '']) => path.trim()))]
}
