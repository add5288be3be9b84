/**
 * Where frozen homes lie while they are made or tested. Facts bind absolute paths, so both happen at
 * the same fixed path; a lock keeps two test runs on one machine apart.
 */
import { spawn } from 'node:child_process'
import { join } from 'node:path'

export const ROOT = '/tmp/writ-frozen'
export const PASSPHRASE = 'correct horse battery staple'
/** The roles of the PostgreSQL home: `keeper` owns the tables, `clerk` appends. */
export const ROLES = 'CREATE ROLE keeper LOGIN CREATEROLE SUPERUSER; CREATE ROLE clerk LOGIN'
/** The role that `writ init` made, for a server that gets the tables from a dump. */
export const APPENDER = 'CREATE ROLE writ_appender NOLOGIN; GRANT writ_appender TO clerk'
export const KINDS = ['sqlite', 'postgres']

export function placesOf(kind) {
  const folder = join(ROOT, kind)
  const [project, home] = [join(folder, 'project'), join(folder, 'home')]
  return { folder, project, home, socket: join(folder, 'socket') }
}

/** The environment of writ in a frozen home: the state directory is the default one below HOME. */
export function environmentOf(kind) {
  const { PATH, NODE_EXTRA_CA_CERTS } = process.env
  const { home } = placesOf(kind)
  return { PATH, NODE_EXTRA_CA_CERTS, HOME: home, USER: 'ann', NO_COLOR: '1' }
}

/**
 * Waits for the one lock of frozen homes on this machine and returns what gives it back. The lock is
 * on `/tmp` itself, which every user can open; the kernel drops it with this process.
 */
export async function lockFrozen() {
  const holder = spawn('flock', ['/tmp', 'sh', '-c', 'echo held; exec cat'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  await new Promise((resolve, reject) => {
    holder.once('error', reject)
    holder.once('exit', (status) => reject(new Error(`flock ended with ${status}`)))
    holder.stdout.once('data', resolve)
  })
  const ended = new Promise((resolve) => holder.once('exit', resolve))
  return () => {
    holder.stdin.end()
    return ended
  }
}
