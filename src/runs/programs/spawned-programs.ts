/**
 * Programs that scripts in JavaScript and Python start as processes, as far as their text shows it. Such
 * a program may be the work that a reviewer judges, so `flow check` warns of it, and it is not sealed.
 */
import { hasCodeSuffix } from './code-names.ts'
import { directoryOf, type WorkspaceFiles } from './workspace-files.ts'

const STARTERS = /\bchild_process\b|\bsubprocess\b|\bos\.(?:system|popen|exec|spawn)/
const CALLS =
  /(?<![\w./])(?:(\w+)\.)?(spawn|spawnSync|exec|execSync|execFile|execFileSync|fork|Popen|run|call|check_call|check_output|system|popen|create_subprocess_exec|create_subprocess_shell)\s*\(([^;\n]*)/g
const LITERALS = /(['"`])((?:(?!\1)[^\\])*)\1/g
const MODULES = /^(?:child_process|childProcess|cp|subprocess|os|asyncio)$/

interface Spawned {
  /** Files of the workspace that the text starts. */
  readonly paths: readonly string[]
  /** Whether it starts a program whose name it puts together. */
  readonly isOpen: boolean
}

export function spawnedBy(files: WorkspaceFiles, module: string): Spawned {
  const text = /\.(?:[cm]?[jt]s|py)$/.test(module) ? files.text(module) : ''
  if (!STARTERS.test(text)) return { paths: [], isOpen: false }
  const calls = [...text.matchAll(CALLS)].flatMap(([, owner, name = '', words = '']) => {
    const isMethod = owner !== undefined && !MODULES.test(owner)
    const isCommon =
      /^(?:exec|run|call)$/.test(name) && owner === undefined && module.endsWith('.py')
    return isMethod || isCommon ? [] : [words]
  })
  const named = calls.map((words) => [...words.matchAll(LITERALS)].map(([, , value = '']) => value))
  const paths = named.flat().flatMap((value) => {
    const words = [value, ...value.split(/[\s'"`;|&()<>=,]+/)]
    return words.flatMap((word) =>
      ['', directoryOf(module)].flatMap((directory) => {
        const path = files.pathOf(word, directory)
        if (path === null || path === '' || !files.isFile(path)) return []
        return hasCodeSuffix(path) || files.isExecutable(path) ? [path] : []
      }),
    )
  })
  return { paths: [...new Set(paths)], isOpen: named.some((literals) => literals.length === 0) }
}
