/**
 * A plugin for the bundler that puts the contracts into the program so that each is set up when it is
 * first asked for, with its schema compiled. The text of the compiled ones comes from the compiler of
 * the sources themselves, so the built functions are the ones that would be made at run time; like all
 * of the program's text, V8 keeps the code it makes of them.
 */
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const DOCUMENTS = 'src/contracts/documents.ts'
const IMPORTS = /^import \{([^}]*)\} from '\.\/([^']+)'/gm

/** How a program asks for a contract, or for its compiled schema: by `document:` or `made:` its name. */
export const DOCUMENT = /^(?:document|made):(.*)$/

/** `common` are the settings of the other bundles. */
export async function structures(common) {
  const { documents, made } = await readContracts(common)
  const resolveDir = common.absWorkingDir
  const load = (contents) => ({ contents, resolveDir, loader: 'js' })
  return {
    name: 'structures',
    setup(build) {
      build.onResolve({ filter: DOCUMENT }, ({ path }) => ({ path, namespace: 'structures' }))
      build.onLoad({ filter: /.*/, namespace: 'structures' }, ({ path }) => {
        const [, name] = DOCUMENT.exec(path)
        return load(path.startsWith('made:') ? made.get(name) : documents.get(name).text)
      })
      build.onLoad({ filter: /[\\/]kernel[\\/]made-ahead\.ts$/ }, () => load(madeAhead(made)))
      build.onLoad({ filter: /[\\/]contracts[\\/]documents\.ts$/ }, () => load(listOf(documents)))
    },
  }
}

/** The contracts as the sources have them, and the text of the modules that hold one each. */
async function readContracts(common) {
  const { build: esbuild } = await import('esbuild')
  const outfile = join(common.outdir, 'structures.mjs')
  const { outdir: _, outbase: __, ...rest } = common
  const places = placesIn(readFileSync(join(common.absWorkingDir, DOCUMENTS), 'utf8'))
  const imports = places.map(
    ({ name, file }, index) => `export { ${name} as d${index} } from './${file}'`,
  )
  const contents = `export { CONTRACTS } from './src/contracts/registry.ts'
export { structureProgram } from './src/contracts/kernel/compile.ts'\n${imports.join('\n')}`
  await esbuild({ ...rest, outfile, stdin: { contents, resolveDir: common.absWorkingDir } })
  try {
    const all = await import(pathToFileURL(outfile).href)
    const names = new Set(all.CONTRACTS.map(({ name }) => name))
    if (names.size !== all.CONTRACTS.length) throw new Error('two contracts have one name')
    if (places.length + 1 !== names.size) throw new Error('a document is not in the registry')
    const documents = places.map(({ name, file }, index) => {
      const { name: own, isRecord } = all[`d${index}`]
      return [own, { isRecord, text: `export { ${name} as document } from './${file}'` }]
    })
    const made = all.CONTRACTS.map(({ name, schema }) => [
      name,
      madeOf(schema, all.structureProgram),
    ])
    return { documents: new Map(documents), made: new Map(made) }
  } finally {
    rmSync(outfile, { force: true })
  }
}

/** What the list of the sources imports, in its order. */
function placesIn(text) {
  const places = new Map()
  for (const [, list, file] of text.matchAll(IMPORTS)) {
    for (const name of list.split(',').map((item) => item.trim())) {
      places.set(name, { name, file: `src/contracts/${file}` })
    }
  }
  const [, list] = /const DOCUMENTS[^=]*= \[([^\]]*)\]/.exec(text)
  return list
    .split(',')
    .map((item) => item.trim())
    .filter((name) => name !== '')
    .map((name) => places.get(name))
}

/** The file of the sources, with a way to each contract instead of the contracts. */
function listOf(documents) {
  const ways = [...documents.keys()].map(
    (name) =>
      `[${JSON.stringify(name)}, () => require(${JSON.stringify(`document:${name}`)}).document]`,
  )
  const records = [...documents].filter(([, { isRecord }]) => isRecord).map(([name]) => name)
  return `const ways = new Map([\n${ways.join(',\n')}\n])
export const DOCUMENT_NAMES = /* @__PURE__ */ [...ways.keys()]
export const RECORD_NAMES = ${JSON.stringify(records)}
export function findDocument(name) { return ways.get(name)?.() ?? null }`
}

function madeAhead(made) {
  const entries = [...made.keys()].map(
    (name) => `[${JSON.stringify(name)}, () => require(${JSON.stringify(`made:${name}`)}).make()]`,
  )
  return `export const MADE_AHEAD = new Map([\n${entries.join(',\n')}\n])`
}

function madeOf(schema, structureProgram) {
  const { body, regexps, sets } = structureProgram(schema)
  const words = sets.map((set) => `new Set(${JSON.stringify([...set])})`)
  const tables = `const regexps = [${regexps.join(', ')}], sets = [${words.join(', ')}]`
  return `import { isUuid } from './src/base/ids.ts'\nexport function make() {\n${tables}\n${body}\n}`
}
