/**
 * A program in two scripts: the first begins what takes long outside of this process, the second is
 * read meanwhile. What both need is in the first only, which puts the names that the second uses on a
 * shelf; so there is one of every class, and one of everything that is kept.
 *
 * The second is what one import of the first leads to.
 */
import { relative, resolve } from 'node:path'

const TAKEN = /shelf\("([^"]+)"\)/g

/**
 * The settings of both scripts. `settings` are the bundler's without an entry, `main` is the file whose
 * names the first script exports, `later` the file that the second begins with, and `name` the second
 * script's own.
 */
export async function halves(esbuild, settings, { main, later, name }) {
  const leading = { name: 'later', setup: (build) => leadToSecond(build, later, name) }
  const plugins = [leading, ...settings.plugins]
  let names = []
  // What is put on the shelf may bring further files into the first script, and leave the second fewer.
  for (;;) {
    const stdin = entryOf(settings.absWorkingDir, main, names)
    const first = { ...settings, plugins, stdin }
    const taking = await takenFrom(esbuild, settings, await filesOf(esbuild, first))
    const second = { ...settings, plugins: [taking, ...settings.plugins], entryPoints: [later] }
    const wanted = [...new Set([...names, ...(await takenIn(esbuild, second))])].sort()
    if (wanted.length === names.length) return { first, second }
    names = wanted
  }
}

/** Own files of which anything is in a script. */
async function filesOf(esbuild, settings) {
  const { metafile } = await esbuild({ ...settings, write: false, metafile: true })
  return Object.values(metafile.outputs).flatMap(({ inputs }) =>
    Object.entries(inputs)
      .filter(([file, { bytesInOutput }]) => /^src\/.*\.ts$/.test(file) && bytesInOutput > 0)
      .map(([file]) => file),
  )
}

/** What a script takes from the shelf. */
async function takenIn(esbuild, settings) {
  const { outputFiles } = await esbuild({ ...settings, write: false })
  return outputFiles.flatMap(({ text }) => [...text.matchAll(TAKEN)].map(([, key]) => key))
}

function entryOf(resolveDir, main, keys) {
  const imports = keys.map((key, index) => {
    const [file, name] = key.split('#')
    return `import { ${name} as n${index} } from './${file}'`
  })
  const places = keys.map((key, index) => `${JSON.stringify(key)}: n${index}`)
  const shelf = `const all = { ${places.join(', ')} }\nexport const shelf = (key) => all[key]`
  const contents = [...imports, `export * from './${main}'`, shelf].join('\n')
  return { contents, resolveDir, loader: 'js' }
}

function leadToSecond(build, later, name) {
  build.onResolve({ filter: /\.ts$/ }, ({ kind, path, resolveDir }) =>
    kind === 'dynamic-import' && resolve(resolveDir, path) === resolve(later)
      ? { path: name, namespace: 'second' }
      : undefined,
  )
  build.onLoad({ filter: /.*/, namespace: 'second' }, ({ path }) => ({
    contents: `module.exports = second(${JSON.stringify(path)})`,
    loader: 'js',
  }))
}

/** For the second script: files of the first are lists of names that stand on the shelf. */
async function takenFrom(esbuild, settings, files) {
  const names = await namesIn(esbuild, settings, files)
  return {
    name: 'shelf',
    setup(build) {
      build.onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const file = relative(settings.absWorkingDir, path)
        const contents = names
          .get(file)
          ?.map((name) => `export const ${name} = /* @__PURE__ */ shelf("${file}#${name}")`)
          .join('\n')
        return contents === undefined ? undefined : { contents, loader: 'js' }
      })
    },
  }
}

/** What each file exports, types left out. */
async function namesIn(esbuild, { absWorkingDir, outdir }, files) {
  const { metafile } = await esbuild({
    absWorkingDir,
    outdir,
    entryPoints: files,
    format: 'esm',
    bundle: false,
    write: false,
    metafile: true,
  })
  return new Map(
    Object.values(metafile.outputs).map(({ entryPoint, exports }) => [entryPoint, exports]),
  )
}
