/**
 * Where a ledger may lie. WAL needs shared memory and honest locks, which filesystems of other
 * machines do not give: a ledger there would be silently damaged, so it is refused (L-8).
 */
import { statfsSync } from 'node:fs'
import { type Fault, fault, showName } from '../base/index.ts'

/** `f_type` of statfs(2), for Linux. sshfs, virtiofs and the like show as FUSE. */
const REFUSED: ReadonlyMap<number, string> = new Map([
  [0x0102_1997, '9p'],
  [0x6969, 'nfs'],
  [0x517b, 'smb'],
  [0xff53_4d42, 'cifs'],
  [0xfe53_4d42, 'smb2'],
  [0x6573_5546, 'fuse'],
  [0x5346_414f, 'afs'],
  [0x6b41_4653, 'kafs'],
  [0x00c3_6400, 'ceph'],
  [0x7375_7245, 'coda'],
  [0x0bd0_0bd0, 'lustre'],
  [0x4750_4653, 'gpfs'],
  [0x1983_0326, 'beegfs'],
  [0x7461_636f, 'ocfs2'],
  [0x0116_1970, 'gfs2'],
  [0x786f_4256, 'vboxsf'],
  [0xbacb_acbc, 'vmhgfs'],
])

export type FilesystemType = (directory: string) => number

/** The fault of a directory that cannot hold a ledger; null when it can. */
export function checkFilesystem(
  directory: string,
  typeOf: FilesystemType = readFilesystemType,
): Fault | null {
  if (process.platform !== 'linux') return null
  const filesystem = REFUSED.get(typeOf(directory) >>> 0)
  if (filesystem === undefined) return null
  return fault(
    'ledger.filesystem',
    directory,
    { directory, filesystem },
    {
      message: `${showName(directory)} lies on ${filesystem}, where a ledger cannot be kept`,
      hint: 'keep the state directory on a local disk, or use PostgreSQL',
    },
  )
}

function readFilesystemType(directory: string): number {
  return statfsSync(directory).type
}
