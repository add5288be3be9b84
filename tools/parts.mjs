/**
 * A program in three scripts: the first begins what takes long outside of this process, the second is
 * read meanwhile, the third when something is asked for that is seldom needed. What several need is in
 * the earliest of them only, which puts the names that later ones use on a shelf; so there is one of
 * every class, and one of everything that is kept.
 *
 * The second is what one import of the first leads to, the third what some imports of the second do.
 */
import { relative, resolve } from 'node:path'

const TAKEN = /shelf\("([^"]+)"\)/g

/**
 * The settings of the scripts. `settings` are the bundler's without an entry, `main` is the file whose
 * names the first script exports, `later` the file that the second begins with, `second` and `third`
 * are the scripts' own names, and `isSeldom` tells which imports of the second the third is read for.
 */
export async function parts(esbuild, settings, { main, later, second, third, isSeldom }) {
  const root = settings.absWorkingDir
  const leading = { name: 'later', setup: (build) => leadToSecond(build, later, second) }
  let [onFirst, onSecond] = [[], []]
  // What is put on a shelf may bring further files into a script, and leave the later ones fewer.
  for (;;) {
    const led = new Set()
    const seldom = {
      name: 'seldom',
      setup: (build) => leadToThird(build, root, third, isSeldom, led),
    }
    const begun = withEntry(settings, [leading], entryOf(main, onFirst))
    const inFirst = await filesOf(esbuild, begun)
    const shelfOfFirst = await takenFrom(esbuild, settings, inFirst)
    const gone = withEntry(settings, [shelfOfFirst, seldom], entryOf(later, onSecond, 'shelf(key)'))
    const inSecond = await filesOf(esbuild, gone)
    const shelves = await takenFrom(esbuild, settings, [...inFirst, ...inSecond])
    const asked = withEntry(settings, [shelves], seldomEntry([...led].sort()))
    const taken = [...(await takenIn(esbuild, gone)), ...(await takenIn(esbuild, asked))]
    const isOfFirst = new Set(inFirst)
    const [ofFirst, ofSecond] = split(taken, (key) => isOfFirst.has(key.split('#')[0]))
    const wanted = [union(onFirst, ofFirst), union(onSecond, ofSecond)]
    if (wanted[0].length === onFirst.length && wanted[1].length === onSecond.length) {
      return { first: begun, second: gone, third: asked }
    }
    ;[onFirst, onSecond] = wanted
  }
}

function withEntry(settings, plugins, contents) {
  const stdin = { contents, resolveDir: settings.absWorkingDir, loader: 'js' }
  return { ...settings, plugins: [...plugins, ...settings.plugins], stdin }
}

function split(keys, isChosen) {
  return [keys.filter(isChosen), keys.filter((key) => !isChosen(key))]
}

function union(some, more) {
  return [...new Set([...some, ...more])].sort()
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

/** What a script takes from the shelves. */
async function takenIn(esbuild, settings) {
  const { outputFiles } = await esbuild({ ...settings, write: false })
  return outputFiles.flatMap(({ text }) => [...text.matchAll(TAKEN)].map(([, key]) => key))
}

/** `otherwise` is where a key is looked for that is not on this shelf. */
function entryOf(main, keys, otherwise = 'undefined') {
  const imports = keys.map((key, index) => {
    const [file, name] = key.split('#')
    return `import { ${name} as n${index} } from './${file}'`
  })
  const places = keys.map((key, index) => `[${JSON.stringify(key)}, n${index}]`)
  const own = `const own = new Map([${places.join(', ')}])`
  const found = `const found = (key) => own.has(key) ? own.get(key) : ${otherwise}`
  return [...imports, `export * from './${main}'`, own, found, 'export { found as shelf }'].join(
    '\n',
  )
}

/** Each is set up when it is asked for. */
function seldomEntry(paths) {
  const places = paths
    .map((path) => JSON.stringify(path))
    .map((path) => `[${path}, () => require(${path})]`)
  return `export const seldom = new Map([${places.join(', ')}])`
}

function leadToSecond(build, later, name) {
  build.onResolve({ filter: /\.ts$/ }, ({ kind, path, resolveDir }) =>
    kind === 'dynamic-import' && resolve(resolveDir, path) === resolve(later)
      ? { path: name, namespace: 'second' }
      : undefined,
  )
  loadScripts(build, 'second')
}

function leadToThird(build, root, name, isSeldom, led) {
  build.onResolve({ filter: /.*/ }, (asked) => {
    if (asked.namespace === 'seldom') return { path: name, namespace: 'third' }
    if (!isSeldom(asked)) return undefined
    const { path, resolveDir } = asked
    const own = path.startsWith('.') ? `./${relative(root, resolve(resolveDir, path))}` : path
    led.add(own)
    return { path: own, namespace: 'seldom' }
  })
  build.onLoad({ filter: /.*/, namespace: 'seldom' }, ({ path }) => ({
    contents: `module.exports = require('third').seldom.get(${JSON.stringify(path)})()`,
    loader: 'js',
  }))
  loadScripts(build, 'third')
}

function loadScripts(build, namespace) {
  build.onLoad({ filter: /.*/, namespace }, ({ path }) => ({
    contents: `module.exports = second(${JSON.stringify(path)})`,
    loader: 'js',
  }))
}

/** For a later script: files of earlier ones are lists of names that stand on a shelf. */
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
