/**
 * Preloaded into writ by the tests of frozen homes, so that writ finds what it would find on the
 * machine that made the home: a moment some minutes later, the device and inode of the workspace that
 * its questions are bound to, and files that nothing changed since. Unpacking an archive gives new
 * inodes and new times of change, and writ rightly refuses to promote onto such a copy.
 */
'use strict'
const fs = require('node:fs')
const RealDate = Date
const AS_IT_IS = { project: null, shiftMs: 0, restoredAtMs: Number.NEGATIVE_INFINITY }
let [known, machine] = ['', AS_IT_IS]

/** Returns what the environment says, which differs from call to call in a process that stays. */
function now() {
  const text = process.env.WRIT_FROZEN_MACHINE ?? ''
  if (text !== known) [known, machine] = [text, text === '' ? AS_IT_IS : JSON.parse(text)]
  return machine
}

globalThis.Date = class extends RealDate {
  constructor(...parts) {
    if (parts.length === 0) super(RealDate.now() + now().shiftMs)
    else super(...parts)
  }

  static now() {
    return RealDate.now() + now().shiftMs
  }
}

const { lstatSync } = fs
fs.lstatSync = (path, options) => {
  const stats = lstatSync(path, options)
  const found = now()
  if (stats === undefined || found === AS_IT_IS) return stats
  if (options?.bigint === true) return path === found.project ? asMade(stats, found) : stats
  // An archive restores when a file was written, which is when it last changed before it was packed.
  const isRestored = stats.ctimeMs <= found.restoredAtMs
  stats.ctimeMs = isRestored ? stats.mtimeMs : stats.ctimeMs + found.shiftMs
  return stats
}

function asMade(stats, { device, inode }) {
  stats.dev = BigInt(device)
  stats.ino = BigInt(inode)
  return stats
}
