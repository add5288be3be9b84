/** What commands share that serve until a signal ends them. */
import { faultError, showName } from '../../base/index.ts'
import { type CommandCall, type OptionWords, usageError } from './command.ts'

/** The options of an address beyond this machine. */
export const PROTECTION: readonly OptionWords[] = [
  { name: 'tls-cert', value: 'FILE', says: 'the certificate; needed beyond this machine' },
  { name: 'tls-key', value: 'FILE', says: 'its key' },
  { name: 'behind-proxy', value: null, says: 'a proxy in front of it speaks TLS' },
]

/** Where `--listen` says; on loopback without it. */
export function listenOption(
  { options }: CommandCall,
  port: number,
): { readonly host: string; readonly port: number; readonly isBehindProxy: boolean } {
  const isBehindProxy = options.isOn('behind-proxy')
  const text = options.text('listen')
  if (text === null) return { host: '127.0.0.1', port, isBehindProxy }
  const [, host = '', digits = ''] = /^\[?([^\]]+)\]?:(\d{1,5})$/.exec(text) ?? []
  if (host !== '' && Number(digits) < 65_536) return { host, port: Number(digits), isBehindProxy }
  throw usageError(`${showName(text)} is no address`, `--listen 127.0.0.1:${port}`)
}

export function tlsOption({
  options,
}: CommandCall): { readonly cert: string; readonly key: string } | null {
  const [cert, key] = [options.text('tls-cert'), options.text('tls-key')]
  if (cert === null && key === null) return null
  if (cert !== null && key !== null) return { cert, key }
  throw faultError('cli.usage', '', '`--tls-cert` and `--tls-key` belong together')
}

export function signalled(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGINT', () => resolve()).once('SIGTERM', () => resolve())
  })
}
