/** Tests of the table of mounts. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { mountOf, mountsBelow, readMounts } from './host-facts.ts'

const TABLE = [
  '22 1 254:0 / / rw,relatime - ext4 /dev/root rw',
  '30 22 0:26 / /home\\040of\\011ann rw shared:1 master:2 - tmpfs tmpfs rw',
  '31 22 0:27 / /srv ro,nosuid - nfs4 server:/srv rw',
  '32 31 0:28 / /srv/deep rw - ext4 /dev/x rw',
  '33 22 0:29 / /srv rw - overlay overlay rw',
  '',
].join('\n')

describe('the table of mounts', () => {
  const directory = mkdtempSync(join(tmpdir(), 'writ-mounts-'))
  writeFileSync(join(directory, 'mountinfo'), TABLE)
  const mounts = readMounts(join(directory, 'mountinfo'))
  rmSync(directory, { recursive: true })

  it('is read with its odd names and optional fields', () => {
    expect(mounts[1]).toEqual({ path: '/home of\tann', type: 'tmpfs', readOnly: false })
  })

  it('tells the mount a path lies on, the newest when there are several', () => {
    expect(mountOf(mounts, '/srv/deep/x')?.path).toBe('/srv/deep')
    expect(mountOf(mounts, '/srv/x')?.type).toBe('overlay')
    expect(mountOf(mounts, '/srvx')?.path).toBe('/')
  })

  it('tells mounts strictly below', () => {
    expect(mountsBelow(mounts, '/srv')).toEqual(['/srv/deep'])
    expect(mountsBelow(mounts, '/srv/deep')).toEqual([])
  })

  it('is the real one by default', () => {
    expect(mountOf(readMounts(), '/')?.path).toBe('/')
  })
})
