/**
 * A plugin for the bundler that puts the compiled schema of every contract into the program. The text
 * comes from the compiler of the sources themselves, so the built functions are the ones that would be
 * made at run time; like all of the program's text, V8 keeps the code it makes of them.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const PARTS = `export { CONTRACTS } from './src/contracts/registry.ts'
export { structureProgram } from './src/contracts/kernel/compile.ts'`

/** `common` are the settings of the other bundles. */
export async function structures(common) {
  const contents = await madeAhead(common)
  return {
    name: 'structures',
    setup(build) {
      build.onLoad({ filter: /[\\/]kernel[\\/]made-ahead\.ts$/ }, () => ({
        contents,
        loader: 'js',
      }))
    },
  }
}

async function madeAhead(common) {
  const { build: esbuild } = await import('esbuild')
  const outfile = join(common.outdir, 'structures.mjs')
  const { outdir: _, outbase: __, ...rest } = common
  await esbuild({ ...rest, outfile, stdin: { contents: PARTS, resolveDir: common.absWorkingDir } })
  try {
    const { CONTRACTS, structureProgram } = await import(pathToFileURL(outfile).href)
    const entries = CONTRACTS.map((contract) => entryOf(contract, structureProgram))
    const names = new Set(CONTRACTS.map(({ name }) => name))
    if (names.size !== CONTRACTS.length) throw new Error('two contracts have one name')
    return `import { isUuid } from '../../base/ids.ts'\nexport const MADE_AHEAD = new Map([\n${entries.join(',\n')}\n])`
  } finally {
    rmSync(outfile, { force: true })
  }
}

function entryOf({ name, schema }, structureProgram) {
  const { body, regexps, sets } = structureProgram(schema)
  const words = sets.map((set) => `new Set(${JSON.stringify([...set])})`)
  const tables = `const regexps = [${regexps.join(', ')}], sets = [${words.join(', ')}]`
  return `[${JSON.stringify(name)}, () => {\n${tables}\n${body}\n}]`
}
