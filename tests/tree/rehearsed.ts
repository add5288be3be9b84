/** A tree of its own, a script over it in an overlay, and what a scan finds of that. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Change } from '../../src/gate/index.ts'
import { makeMarker } from '../../src/tree/marker.ts'
import { PATH_BYTES_MAX, scanLayers } from '../../src/tree/scan.ts'
import { type Overlay, openOverlay } from './overlay.ts'

export const isRoot = process.getuid?.() === 0

export class Rehearsed {
  readonly folder: string
  readonly root: string
  readonly stage: string
  #overlay: Overlay | null = null

  constructor(name: string) {
    this.folder = mkdtempSync(join(tmpdir(), `writ-${name}-`))
    this.root = join(this.folder, 'real')
    this.stage = join(this.folder, 'stage')
    mkdirSync(this.root)
  }

  get overlay(): Overlay {
    if (this.#overlay === null) throw new Error('nothing was rehearsed yet')
    return this.#overlay
  }

  async run(upper: 'memory' | 'disk', before: string, script: string): Promise<readonly Change[]> {
    const { folder, root } = this
    execFileSync('sh', ['-ec', before], { cwd: root })
    const marker = makeMarker(join(folder, 'place'), 'test', [root], Date.now)
    this.#overlay = await openOverlay(root, join(folder, 'work'), { upper })
    this.#overlay.run(script)
    const { changes } = await scanLayers([this.#overlay.layer], {
      marker,
      commandStartedAtMs: marker.madeAtMs + 20,
      maxBytes: 1 << 28,
      pathBytesMax: PATH_BYTES_MAX,
      scopeRoots: [root],
      isRoot,
      exclude: [],
    })
    return changes
  }

  async remove(): Promise<void> {
    await this.#overlay?.close()
    execFileSync('chmod', ['-R', 'u+rwx', this.folder])
    rmSync(this.folder, { recursive: true, force: true })
  }
}
