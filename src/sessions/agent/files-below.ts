/** All plain files and links below a directory, by their path in it; links are not followed. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'

/** More are not looked at: an agent's own settings are few. */
export const FILES_MAX = 50_000

export interface FoundFile {
  readonly path: string
  readonly isLink: boolean
  /** Of a link: where it leads. */
  readonly bytes: () => Uint8Array
}

export function* filesBelow(directory: string): Generator<FoundFile> {
  const open = ['']
  for (let count = 0, place = open.pop(); place !== undefined; place = open.pop()) {
    for (const entry of readdirSync(join(directory, place), { withFileTypes: true })) {
      const path = place === '' ? entry.name : `${place}/${entry.name}`
      if (entry.isDirectory()) open.push(path)
      const isLink = entry.isSymbolicLink()
      if (!(entry.isFile() || isLink) || ++count > FILES_MAX) continue
      const at = join(directory, path)
      yield { path, isLink, bytes: () => (isLink ? readlinkSync(at, 'buffer') : readFileSync(at)) }
    }
  }
}
