/** Errors of the system, told apart by their errno. */

/** Returns the errno of an error of the system, null for any other error. */
export function errnoOf(error: unknown): string | null {
  const { code } = (error ?? {}) as NodeJS.ErrnoException
  return typeof code === 'string' && /^E[A-Z0-9]+$/.test(code) ? code : null
}

export function isAbsent(error: unknown): boolean {
  const code = errnoOf(error)
  return code === 'ENOENT' || code === 'ENOTDIR'
}
