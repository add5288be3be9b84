/**
 * Filesystems that cannot hold a scope (G-19). Without a reliable change time the host cannot tell
 * whether the tree still is the one that was rehearsed, and on a network filesystem other machines
 * ignore the host's locks. A star at the end of a name matches any rest.
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
