/**
 * How types are named: one exported type a name, and things instead of activities. Functions of texts,
 * as `inspect.ts` is.
 */

const DECLARED =
  /^export (?:declare )?(?:abstract )?(?:interface|type|class|(?:const )?enum) (\w+)/gm
const ANY =
  /^(?:export )?(?:declare )?(?:abstract )?(?:interface|type|class|(?:const )?enum) (\w+)/gm
const LISTED = /^export (?:type )?\{([^}]*)\}/gm
const RENAMED = /\b\w+ as (\w+)\b/g
const GERUND = /(?:^|[a-z])ing$/i
/** Words that end like a gerund and name a thing. */
const NOUNS = /(?:Drawing|Finding|Listing|Pending|Ring|Setting|Standing|String)$/

/** Returns `name: file, file` for every name that files of `src` give to different exported types. */
export function homonyms(files: ReadonlyMap<string, string>): readonly string[] {
  const places = new Map<string, string[]>()
  for (const [path, names] of exportedTypes(files)) {
    for (const name of names) places.set(name, [...(places.get(name) ?? []), path])
  }
  return [...places]
    .filter(([, paths]) => paths.length > 1)
    .map(([name, paths]) => `${name}: ${paths.join(', ')}`)
    .sort()
}

/** Returns `file: name` for every type of `src` that is named after an activity. */
export function gerunds(files: ReadonlyMap<string, string>): readonly string[] {
  return sources(files).flatMap(([path, text]) =>
    [...text.matchAll(ANY)]
      .map(([, name = '']) => name)
      .filter((name) => GERUND.test(name) && !NOUNS.test(name))
      .map((name) => `${path}: ${name}`),
  )
}

/** Returns the types that each file declares for others; one that it re-exports by its name is none. */
function exportedTypes(
  files: ReadonlyMap<string, string>,
): readonly (readonly [path: string, names: ReadonlySet<string>])[] {
  return sources(files).map(([path, text]) => {
    const declared = [...text.matchAll(DECLARED)].map(([, name = '']) => name)
    const renamed = [...text.matchAll(LISTED)].flatMap(([, list = '']) =>
      [...list.matchAll(RENAMED)].map(([, name = '']) => name).filter((n) => /^[A-Z][a-z]/.test(n)),
    )
    return [path, new Set([...declared, ...renamed])]
  })
}

function sources(files: ReadonlyMap<string, string>): readonly [string, string][] {
  return [...files].filter(([path]) => path.startsWith('src/') && !path.endsWith('.test.ts'))
}
