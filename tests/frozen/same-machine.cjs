/**
 * Preloaded into writ by the tests of frozen homes, so that writ finds what it would find on the
 * machine that made the home: a moment some minutes later, the device and inode of the workspace that
 * its questions are bound to, and files that nothing changed since. Unpacking an archive gives new
 * inodes and new times of change, and writ rightly refuses to promote onto such a copy.
 */
'use strict'
const fs = require('node:fs')
const RealDate = Date
const { project, device, inode, shiftMs, restoredAtMs } = JSON.parse(
  process.env.WRIT_FROZEN_MACHINE ?? '{}',
)

globalThis.Date = class extends RealDate {
  constructor(...parts) {
    if (parts.length === 0) super(RealDate.now() + shiftMs)
    else super(...parts)
  }

  static now() {
    return RealDate.now() + shiftMs
  }
}

const { lstatSync } = fs
fs.lstatSync = (path, options) => {
  const stats = lstatSync(path, options)
  if (stats === undefined) return stats
  if (options?.bigint === true) return path === project ? asMade(stats) : stats
  // An archive restores when a file was written, which is when it last changed before it was packed.
  stats.ctimeMs = stats.ctimeMs <= restoredAtMs ? stats.mtimeMs : stats.ctimeMs + shiftMs
  return stats
}

function asMade(stats) {
  stats.dev = BigInt(device)
  stats.ino = BigInt(inode)
  return stats
}
