/**
 * Names that tell what a program is made of: suffixes of code, files that interpreters and package
 * managers read by themselves, directories of installed packages. Data: each list has a test.
 */

/** Suffixes of files that an interpreter runs or loads. */
const CODE_SUFFIXES: readonly string[] = [
  ...['js', 'mjs', 'cjs', 'jsx', 'ts', 'mts', 'cts', 'tsx', 'node', 'wasm'],
  ...['py', 'pyw', 'pyc', 'pyo', 'pyd', 'so', 'pth'],
  ...['sh', 'bash', 'zsh', 'fish', 'awk', 'ps1'],
  ...['rb', 'pl', 'pm', 'php', 'lua', 'r', 'jl', 'ex', 'exs', 'beam', 'jar', 'class', 'go'],
]

/** Patterns for code directly in a directory, and for a Python package that could hide a module. */
export const CODE_PATTERNS: readonly string[] = [
  ...CODE_SUFFIXES.map((suffix) => `*.${suffix}`),
  '*/__init__.*',
]

/** The same for what Python finds in a directory. */
export const PYTHON_PATTERNS: readonly string[] = ['*.py', '*.pyc', '*.so', '*/__init__.*']

/** The same in every directory, with what leads to it. */
export const PYTHON_ANYWHERE: readonly string[] = [
  '**/*.py',
  '**/*.pyc',
  '**/*.so',
  '**/__init__.*',
]

/**
 * Manifests, lock files and settings that are read from the program's directory or one above it,
 * without being named anywhere.
 */
export const MANIFEST_PATTERNS: readonly string[] = [
  ...['package.json', 'npm-shrinkwrap.json', 'node.config.json', 'pnpm-workspace.yaml'],
  ...['jsconfig*.json', 'tsconfig*.json', 'deno.json', 'deno.jsonc', 'bunfig.toml', 'bun.lockb'],
  ...['pyproject.toml', 'setup.py', 'setup.cfg', 'tox.ini', 'pytest.ini', 'Pipfile', 'uv.toml'],
  ...['requirements*.txt', 'pyvenv.cfg', '.python-version', '.node-version', '.tool-versions'],
  ...['Gemfile', 'Rakefile', 'composer.json', 'Cargo.toml', 'go.mod', 'go.sum', 'go.work'],
  ...['Makefile', 'makefile', 'GNUmakefile', 'justfile', 'Justfile', 'Taskfile.*'],
  ...['*.lock', '*-lock.json', '*-lock.yaml', '*.config.*', '.*rc', '.*rc.*', '.env', '.env.*'],
]

/**
 * What tools load from any directory without being told: packages, settings and hooks. Where a command
 * judges, no participant adds or changes one of these unless its node declares to write it.
 */
export const LOADED_ANYWHERE: readonly string[] = [
  ...['node_modules/**', 'package.json', '.npmrc', 'tsconfig*.json', '.husky/**', '.jq'],
  ...['__init__.*', 'conftest.py', '*.pth'],
  ...['pytest.ini', '.pytest.ini', 'mypy.ini', '.mypy.ini', '.flake8', 'setup.cfg', 'tox.ini'],
  ...['pyproject.toml', 'Makefile', 'makefile', 'GNUmakefile', '*.mk'],
].map((pattern) => `**/${pattern}`)

/**
 * Modules that Python looks for on its whole path without being told: at each start, and where modules of its
 * library try a name that other systems have (`copy` and `pickle`: `org.python.core`). An editable install puts
 * a directory of the workspace on that path, so no participant makes one of these, declared or not.
 */
const PYTHON_TRIES: readonly string[] = [
  ...['sitecustomize', 'usercustomize', 'org', 'org/python', 'org/python/core'],
  ...['_winapi', 'nt', 'winreg', 'msvcrt', 'vms_lib', 'java'],
]

export const LOADED_AT_START: readonly string[] = [
  ...PYTHON_TRIES.flatMap((name) => [`${name}.py*`, `${name}.*so`, `${name}/__init__.*`]),
  // A link of such a name leads to a package that is there already.
  ...['sitecustomize', 'usercustomize'],
].map((pattern) => `**/${pattern}`)

/** Directories of installed packages; everything below them counts. */
export const PACKAGE_DIRECTORIES: readonly string[] = [
  ...['node_modules', 'bower_components', '.yarn', '.pnp.cjs', '.pnp.loader.mjs'],
  ...['site-packages', '.venv', 'venv', '__pycache__', '__pypackages__', '.eggs', 'vendor'],
]

/** What an agent that reviews reads as its instructions, from the root of the workspace. */
export const INSTRUCTION_FILES: readonly string[] = [
  ...['AGENTS.md', 'CLAUDE.md', 'CLAUDE.local.md', 'GEMINI.md', '.mcp.json', '.cursorrules'],
  ...['.claude', '.codex', '.cursor', '.gemini', '.github/copilot-instructions.md'],
]

/**
 * What makes git run programs: settings with filters, monitors, drivers and commands, hooks, attributes
 * that no file of the tree shows, and what leads git to the settings of another place. Attributes of the
 * tree choose among the filters that these files name.
 */
const GIT_FILES: readonly string[] = [
  ...['config', 'config.worktree', 'commondir', 'info/attributes', 'hooks/**'],
]

/** The same for every repository of the workspace, there or new, and for those of its submodules. */
export const GIT_PATTERNS: readonly string[] = [
  ...GIT_FILES.map((file) => `.git/${file}`),
  ...['**/.git', ...GIT_FILES.map((file) => `**/.git/${file}`)],
  ...['modules', 'worktrees'].flatMap((place) =>
    GIT_FILES.map((file) => `**/.git/${place}/**/${file}`),
  ),
]

/** Programs that find what to run in the workspace, by its manifests. */
const RUNNERS: ReadonlySet<string> = new Set([
  ...['npm', 'npx', 'pnpm', 'pnpx', 'yarn', 'bun', 'bunx', 'deno', 'tsx', 'ts-node'],
  ...['make', 'gmake', 'just', 'task', 'rake', 'bundle', 'composer', 'cargo', 'go'],
  ...[
    'uv',
    'uvx',
    'poetry',
    'pipenv',
    'pipx',
    'hatch',
    'tox',
    'nox',
    'pytest',
    'unittest',
    'behave',
  ],
  ...['jest', 'vitest', 'mocha', 'ava', 'tap', 'karma', 'cypress', 'playwright', 'grunt', 'gulp'],
  ...['nx', 'turbo', 'lerna', 'rspec', 'phpunit', 'mix', 'mvn', 'gradle', 'ant', 'sbt', 'dotnet'],
  ...['bazel', 'cmake', 'ctest', 'ninja', 'meson', 'scons', 'swift', 'zig', 'invoke', 'inv'],
])

const INTERPRETERS = /^(?:node|nodejs|deno|bun|tsx|ts-node|ruby|php|(?:python|pypy)[0-9.]*)$/
const PYTHON = /^(?:python|pypy)[0-9.]*$/
const SHELLS = /^(?:sh|bash|dash|zsh|ksh|ash|mksh|fish)$/
const OTHERS = /^(?:perl|lua|luajit|tclsh|Rscript|julia|[gmn]?awk|groovy|elixir|guile|java)[0-9.]*$/

function isInterpreter(program: string): boolean {
  return INTERPRETERS.test(program)
}

export function isShell(program: string): boolean {
  return SHELLS.test(program)
}

/** Whether a program runs what its words name: without a file, it is not known what that is. */
export function isStarter(program: string): boolean {
  if (isShell(program) || isInterpreter(program)) return true
  return OTHERS.test(program) || RUNNERS.has(program)
}

export function isPython(program: string): boolean {
  return PYTHON.test(program)
}

export function hasCodeSuffix(path: string): boolean {
  const dot = path.lastIndexOf('.')
  return dot > path.lastIndexOf('/') && CODE_SUFFIXES.includes(path.slice(dot + 1).toLowerCase())
}
