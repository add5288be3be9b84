/** A run that is stopped by a signal stops what it began; its facts are there to go on from. */
import { faultError } from '../../base/index.ts'

export async function interruptible<T>(
  work: (abort: AbortSignal) => Promise<T>,
  goesOn = 'writ flow resume',
): Promise<T> {
  const abort = new AbortController()
  const stop = (signal: string): void => {
    const message = `stopped by ${signal}; what is recorded stays recorded`
    const hint = `\`${goesOn}\` goes on`
    abort.abort(faultError('flow.interrupted', '', message, hint))
  }
  process.once('SIGINT', stop).once('SIGTERM', stop)
  try {
    return await work(abort.signal)
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop)
  }
}

/** A process that watches over this one is gone when the input ends. */
export function endWithInput(): void {
  process.stdin.resume().once('end', () => process.kill(process.pid, 'SIGTERM'))
}
