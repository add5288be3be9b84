/** The built package finds the file of the writer's thread, wherever the bundler put the code. */
import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { expect, it } from 'vitest'
import { scratch } from './test-ledger.ts'

it('opens a ledger with a thread of its own', async () => {
  const outdir = resolve('.cache/test-programs', String(process.pid), 'dist')
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
  // As tools/build.mjs lays it out: rooms' doors and threads, with shared chunks.
  await build({
    entryPoints: ['src/store/index.ts', 'src/ledger/index.ts', 'src/store/writer.worker.ts'],
    outbase: 'src',
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: Object.keys(dependencies).filter((name) => name !== 'typebox' && name !== 'yaml'),
    logLevel: 'error',
  })
  const { directory, remove } = scratch()
  const program = join(outdir, 'program.mjs')
  writeFileSync(
    program,
    `import { createLedger, openLedger } from ${JSON.stringify(pathToFileURL(join(outdir, 'store/index.js')).href)}
     const place = { directory: ${JSON.stringify(join(directory, 'state'))} }
     const actor = { principal: { kind: 'human', id: 'ann', namespace: 'farm' }, source: 'test' }
     await createLedger(place, 'example.org/writ/built', actor)
     const ledger = await openLedger({ ...place, writer: 'thread' })
     await ledger.rotateKey(actor)
     const { size } = await ledger.store.head('host')
     await ledger.close()
     process.stdout.write('size ' + size)`,
  )
  const { stdout, stderr } = spawnSync(process.execPath, [program], { encoding: 'utf8' })
  expect([stdout, stderr]).toEqual(['size 2', ''])
  remove()
  rmSync(outdir, { recursive: true, force: true })
})
