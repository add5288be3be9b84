/**
 * What a run with a network sees of a home (G-10b): an allow-list. Such a run could send on everything
 * it reads, so it sees its scope and known caches and programs only.
 */
import { absolutePatterns } from '../data/lists.ts'
import { NameSet } from '../paths/name-set.ts'

/**
 * The caches of a home that a run with a network sees (G-10b). Such a run could send on everything it
 * reads, so the list holds only places with downloads and build results, and none with a login.
 */
const CACHES: readonly string[] = [
  '~/.cache',
  '~/.npm',
  '~/.node-gyp',
  '~/.yarn/berry',
  '~/.pnpm-state',
  '~/.local/share/pnpm/store',
  '~/.local/state/pnpm',
  '~/.bun/install/cache',
  '~/.deno',
  '~/.cargo/registry',
  '~/.cargo/git',
  '~/go/pkg/mod/cache',
  '~/.gradle/caches',
  '~/.gradle/daemon',
  '~/.gradle/native',
  '~/.gradle/notifications',
  '~/.m2/repository',
  '~/.ivy2/cache',
  '~/.nuget/packages',
  '~/.ccache',
  '~/.local/share/virtualenv',
]

/** The only directories of `~/.cache` that such a run sees; a star matches any rest. */
const CACHE_NAMES: readonly string[] = [
  'bazel*',
  'bazelisk',
  'black',
  'bun',
  'ccache',
  'composer',
  'coursier',
  'Cypress',
  'deno',
  'electron',
  'electron-builder',
  'esbuild',
  'fontconfig',
  'go-build',
  'golangci-lint',
  'gopls',
  'matplotlib',
  'mesa_shader_cache*',
  'ms-playwright*',
  'mypy',
  'node',
  'node-gyp',
  'npm',
  'nvim-cache',
  'pdm',
  'pip',
  'pip-tools',
  'pipx',
  'pnpm',
  'poetry',
  'pre-commit',
  'prisma',
  'puppeteer',
  'pypoetry',
  'ruff',
  'rustup',
  'sccache',
  'terraform',
  'trivy',
  'turbo',
  'typescript',
  'uv',
  'virtualenv',
  'yarn',
  'zig',
]

/** Directories, whether they are there or not; what is hidden anyway stays hidden in them. */
export function visiblePlaces(homes: readonly string[]): readonly string[] {
  return [...new Set(absolutePatterns([...CACHES, ...TOOLCHAINS], homes))]
}

const knownCaches = new NameSet(CACHE_NAMES)

/** Whether a run with a network sees the directory of this name in a home's `.cache`. */
export function isKnownCache(name: string): boolean {
  return knownCaches.has(name)
}

/** Where programs keep what they fetched, when their own places are not there and cannot be made. */
const PRIVATE: readonly { readonly place: string; readonly name: string }[] = [
  { place: '~/.cache', name: 'XDG_CACHE_HOME' },
  { place: '~/.npm', name: 'npm_config_cache' },
  { place: '~/go/pkg/mod/cache', name: 'GOMODCACHE' },
]

/** For places that are missing: private ones that are thrown away. */
export function cacheEnvironment(
  homes: readonly string[],
  isThere: (path: string) => boolean,
): Readonly<Record<string, string>> {
  const missing = PRIVATE.filter(({ place }) => !absolutePatterns([place], homes).some(isThere))
  return Object.fromEntries(
    missing.map(({ name }) => [name, `/tmp/.writ-cache/${name.toLowerCase()}`]),
  )
}

/**
 * Places below a home that hold programs which users install for themselves. A run with a network sees
 * them, its scope, and the caches above. None of these places holds a login.
 */
const TOOLCHAINS: readonly string[] = [
  '~/.asdf/bin',
  '~/.asdf/installs',
  '~/.asdf/lib',
  '~/.asdf/plugins',
  '~/.asdf/shims',
  '~/.bun/bin',
  '~/.cargo/bin',
  '~/.deno/bin',
  '~/.fnm',
  '~/.ghcup/bin',
  '~/.ghcup/ghc',
  '~/.goenv/versions',
  '~/.jenv/versions',
  '~/.local/bin',
  '~/.local/lib',
  '~/.local/pipx/venvs',
  '~/.local/share/fnm',
  '~/.local/share/mise/installs',
  '~/.local/share/mise/shims',
  '~/.local/share/pipx/venvs',
  '~/.local/share/uv/python',
  '~/.local/share/uv/tools',
  '~/.n/bin',
  '~/.n/lib',
  '~/.nodenv/versions',
  '~/.nvm/versions',
  '~/.pyenv/bin',
  '~/.pyenv/libexec',
  '~/.pyenv/shims',
  '~/.pyenv/versions',
  '~/.rbenv/bin',
  '~/.rbenv/libexec',
  '~/.rbenv/shims',
  '~/.rbenv/versions',
  '~/.rustup/toolchains',
  '~/.sdkman/candidates',
  '~/.volta/bin',
  '~/.volta/tools',
  '~/bin',
  '~/go/bin',
  '~/sdk',
]
