/**
 * Loaded into a program before its own code: kills the process with SIGKILL right before the first call
 * that `DIE_AT` names, as `function path`, where the path is a pattern. An `openSync` that only reads does
 * not count. Nothing else is changed.
 */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const [name = '', pattern = ''] = (process.env.DIE_AT ?? '').split(' ')
const wanted = new RegExp(pattern)
const paths = new Map()

const open = fs.openSync
fs.openSync = (path, flags = 'r', ...rest) => {
  const isMade = name === 'openSync' && flags !== 'r' && flags !== fs.constants.O_RDONLY
  if (isMade && wanted.test(String(path))) process.kill(process.pid, 'SIGKILL')
  const handle = open(path, flags, ...rest)
  paths.set(handle, String(path))
  return handle
}

/** The path of a call: an open file has the one that it was opened by. */
function pathOf(first) {
  return typeof first === 'number' ? (paths.get(first) ?? '') : String(first)
}

if (name !== '' && name !== 'openSync') {
  const real = fs[name]
  fs[name] = (...given) => {
    const places = [pathOf(given[0]), typeof given[1] === 'string' ? given[1] : '']
    if (places.some((place) => wanted.test(place))) process.kill(process.pid, 'SIGKILL')
    return real.apply(fs, given)
  }
}
syncBuiltinESMExports()
