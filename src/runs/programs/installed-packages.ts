/**
 * Installed packages that programs import by name. They are pinned whole: participants cannot change them,
 * and acts outside of the run can.
 */
import { isBuiltin } from 'node:module'
import { PACKAGE_DIRECTORIES } from './code-names.ts'
import { fieldOf, mainFiles } from './imports.ts'
import { below, directoryOf, upFrom, type WorkspaceFiles } from './workspace-files.ts'

/** A package by its name, with or without a comment before it. */
const PACKAGE_IMPORTS =
  /\b(?:from|import|require(?:\.resolve)?)\s*\(?\s*(?:\/\*[^*]*\*\/\s*)?(['"`])([@\w][^'"`\n]*)\1/g
const PYTHON_IMPORTS = /^[ \t]*(?:import|from)[ \t]+(\w+)/gm
const ENVIRONMENTS = ['.venv', 'venv']
const DEPENDENCIES = ['dependencies', 'optionalDependencies', 'peerDependencies']
/** A tree of more packages is not followed further. */
const PACKAGES_MAX = 2_000

interface Import {
  /** Of the module or package that imports. */
  readonly directory: string
  readonly name: string
}

/** Where packages of these modules are looked for, there or not: up to the first place that has one. */
export function packagePlaces(
  files: WorkspaceFiles,
  modules: Iterable<string>,
): ReadonlySet<string> {
  const places = new Set<string>()
  const open: Import[] = []
  const known = new Set<string>()
  for (const module of modules) {
    open.push(...importsOf(files, module))
    for (const place of pythonPlaces(files, module)) places.add(place)
    for (const place of packagesAround(files, module)) {
      places.add(place)
      known.add(place)
      open.push(...neededBy(files, place))
    }
  }
  for (const { directory, name } of open) {
    for (const up of upFrom(directory)) {
      if (up.split('/').at(-1) === 'node_modules') continue
      const place = below(up, `node_modules/${name}`)
      const isThere = files.isDirectory(place)
      if (isThere && !isInstalled(files, place)) break
      places.add(place)
      if (!isThere) continue
      if (!known.has(place) && known.size < PACKAGES_MAX) open.push(...neededBy(files, place))
      known.add(place)
      break
    }
  }
  return places
}

/** A package of a monorepo is a link into the workspace: its files are pinned one by one. */
function isInstalled(files: WorkspaceFiles, place: string): boolean {
  return files.withLinks(place).every(isBelowPackages)
}

function isBelowPackages(path: string): boolean {
  return path.split('/').some((name) => PACKAGE_DIRECTORIES.includes(name))
}

/** Packages in which a module lies: a program of one, which a link in `.bin` names. */
function packagesAround(files: WorkspaceFiles, module: string): readonly string[] {
  return files.withLinks(module).flatMap((path) => {
    const place = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/.][^/]*(?=\/)/.exec(path)?.[0]
    return place === undefined ? [] : [place]
  })
}

function importsOf(files: WorkspaceFiles, module: string): readonly Import[] {
  const directory = directoryOf(module)
  return [...files.text(module).matchAll(PACKAGE_IMPORTS)].flatMap(([, , name = '']) => {
    const [scope = '', second = ''] = name.split('/')
    if (isBuiltin(name) || name.includes(':')) return []
    return [{ directory, name: scope.startsWith('@') ? `${scope}/${second}` : scope }]
  })
}

/** What a package needs by its manifest, and by its main files where it has none. */
function neededBy(files: WorkspaceFiles, place: string): readonly Import[] {
  const manifest = files.text(below(place, 'package.json'))
  const declared = DEPENDENCIES.flatMap((field) => Object.keys(Object(fieldOf(manifest, field))))
  const imported = mainFiles(files, place).flatMap(({ path }) => importsOf(files, path))
  const names = new Set([...declared, ...imported.map(({ name }) => name)])
  const directories = files.withLinks(place)
  return [...names].flatMap((name) => directories.map((directory) => ({ directory, name })))
}

/** What Python finds in an environment of the workspace: the package, and what it loads at each start. */
function pythonPlaces(files: WorkspaceFiles, module: string): readonly string[] {
  if (!/\.pyw?$/.test(module) && !/^#!.*\bpython/.test(files.text(module))) return []
  const names = [...files.text(module).matchAll(PYTHON_IMPORTS)].map(([, name = '']) => name)
  return upFrom(directoryOf(module))
    .flatMap((up) => ENVIRONMENTS.map((name) => below(up, `${name}/lib`)))
    .flatMap((lib) => files.names(lib).map((name) => `${lib}/${name}/site-packages`))
    .filter((place) => files.isDirectory(place))
    .flatMap((place) => [
      ...[...names, 'sitecustomize', 'usercustomize'].flatMap((name) => [
        `${place}/${name}`,
        `${place}/${name}.py`,
      ]),
      ...files
        .names(place)
        .filter((name) => name.endsWith('.pth'))
        .map((name) => `${place}/${name}`),
    ])
}
