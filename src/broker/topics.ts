/**
 * The topics of devices below a prefix, named as users of the original system know them:
 * `<prefix>/downlink/<tenant>/<device>` to the device, `<prefix>/receipt/<tenant>/<device>` from it.
 */

/** A device by its two names. */
interface Device {
  readonly id: string
  readonly namespace: string
}

export const DEFAULT_PREFIX = 'writ'

export function downlinkTopic(prefix: string, { id, namespace }: Device): string {
  return `${prefix}/downlink/${namespace}/${id}`
}

export function receiptTopic(prefix: string, { id, namespace }: Device): string {
  return `${prefix}/receipt/${namespace}/${id}`
}

/** The topics of all devices, for the one who dispatches. */
export function allReceipts(prefix: string): string {
  return `${prefix}/receipt/+/+`
}

/** The device whose topic this is; null for any other topic. */
export function deviceOfTopic(prefix: string, topic: string): Device | null {
  if (!topic.startsWith(`${prefix}/receipt/`)) return null
  const [namespace = '', id = '', ...more] = topic.slice(prefix.length + 9).split('/')
  return namespace === '' || id === '' || more.length > 0 ? null : { id, namespace }
}
