/** Reads the settings of package managers that a run may know of (`src/gate/admission/tool-settings.ts`). */
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { npmSettings, pipSettings, yarnSettings } from '../../gate/index.ts'

const BYTES_MAX = 64 * 1024

const FILES = [
  ['.npmrc', npmSettings],
  ['.yarnrc.yml', yarnSettings],
  ['.config/pip/pip.conf', pipSettings],
  ['.pip/pip.conf', pipSettings],
] as const

export function toolSettings(home: string): Readonly<Record<string, string>> {
  return Object.assign({}, ...FILES.map(([name, read]) => read(textOf(join(home, name)))))
}

/** Empty where there is no such file, or one that is no ordinary file of settings. */
function textOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found?.isFile() !== true || found.size > BYTES_MAX) return ''
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
