/**
 * Filesystems that cannot hold a scope (G-19): without a trustworthy time of change nobody could say
 * that a rehearsal saw what is there, and over a network others write past every lock. A name that
 * ends in a star stands for all that begin so.
 */
export const REFUSED_FILESYSTEMS: readonly string[] = [
  '9p',
  'afs',
  'ceph',
  'cifs',
  'coda',
  'davfs*',
  'drvfs',
  'exfat',
  'fuse',
  'fuse.*',
  'fuseblk',
  'glusterfs',
  'lustre',
  'msdos',
  'ncpfs',
  'nfs',
  'nfs4',
  'ntfs',
  'ntfs3',
  'orangefs',
  'proc',
  'prl_fs',
  'smb3',
  'smbfs',
  'sysfs',
  'vboxsf',
  'vfat',
  'virtiofs',
  'vmhgfs*',
]
