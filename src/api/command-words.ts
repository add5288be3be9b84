/**
 * A request as words of the command line. Options are one word each (`--name=value`) and words come
 * behind `--`, so that no value of a request is ever taken for an option.
 */
import type { CommandLine } from './shape/route.ts'

type Fields = Readonly<Record<string, unknown>>

/** Where the contents of fields lie as files, by field. */
export type FilePlaces = Readonly<Record<string, readonly string[]>>

export function commandWords(
  command: string,
  runs: CommandLine,
  fields: Fields,
  files: FilePlaces,
  more: readonly string[],
): readonly string[] {
  const words = runs.words ?? []
  const shown = (name: string): readonly string[] => {
    if (name === runs.input && fields[name] !== undefined) return ['-']
    return files[name] ?? texts(fields[name])
  }
  const options = Object.keys(fields)
    .filter((name) => !words.includes(name) && name !== 'proof' && name !== 'files')
    .flatMap((name) => {
      const option = `--${name.replaceAll('_', '-')}`
      if (fields[name] === true) return [option]
      return shown(name).map((value) => `${option}=${value}`)
    })
  const named = words.flatMap(shown)
  const behind = named.length === 0 ? [] : ['--', ...named]
  return [...command.split(' '), ...(runs.always ?? []), ...options, ...more, ...behind]
}

function texts(value: unknown): readonly string[] {
  if (value === undefined || value === false) return []
  if (Array.isArray(value)) return value.flatMap(texts)
  return [typeof value === 'string' ? value : JSON.stringify(value)]
}
