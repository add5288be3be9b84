/**
 * A connection to an MQTT 5 broker over TLS. It connects again by itself; what was published while it is
 * away fails, and the caller sends it again.
 *
 * INVARIANT (encrypted): an address that is not `mqtts://` is refused, and so is a certificate that the
 *   given or the system's authorities do not vouch for.
 * INVARIANT (nothing retained): every message is published with quality of service 1 and not retained.
 */
import { readFileSync } from 'node:fs'
import type { MqttClient } from 'mqtt'
import { faultError, showName } from '../base/index.ts'

export interface BrokerPlace {
  /** `mqtts://HOST:PORT`. */
  readonly url: string
  readonly user: string
  readonly password: string
  /** A file of certificates; null for those of the system. */
  readonly ca: string | null
}

interface LinkOptions extends BrokerPlace {
  readonly clientId: string
  readonly topics: readonly string[]
  /** How long the broker keeps messages for this client while it is away; without it not at all. */
  readonly sessionSeconds?: number
  /** Of messages that are longer than 64 KiB, or not UTF-8, `onTrouble` tells instead. */
  readonly onMessage: (topic: string, text: string) => void
  /** Called when it is connected and subscribed, each time. */
  readonly onReady?: () => void
  /** Called with the reason when a connection fails or ends. */
  readonly onTrouble?: (reason: string) => void
}

/** How long a message may take to be acknowledged by the broker. */
const PUBLISH_MS = 10_000
const CONNECT_MS = 10_000
const AGAIN_MS = 1_000
/** The largest message, and with it the largest packet that the broker is asked for. */
const MESSAGE_BYTES_MAX = 64 * 1024
const PACKET_BYTES_MAX = 2 * MESSAGE_BYTES_MAX

export class BrokerLink {
  readonly #client: MqttClient
  #isReady = false

  private constructor(client: MqttClient) {
    this.#client = client
  }

  /** Begins to connect, and returns at once. */
  static async open(options: LinkOptions): Promise<BrokerLink> {
    const { url, user, password, ca, clientId, topics, onMessage } = options
    if (!url.startsWith('mqtts://')) {
      const message = `${showName(url)} is not the address of a broker with TLS`
      throw faultError('dispatch.broker', url, message, 'an address begins with `mqtts://`')
    }
    const { connect } = await import('mqtt')
    const client = connect(url, {
      protocolVersion: 5,
      clientId,
      username: user,
      password,
      clean: false,
      properties: {
        sessionExpiryInterval: options.sessionSeconds ?? 0,
        maximumPacketSize: PACKET_BYTES_MAX,
      },
      reconnectPeriod: AGAIN_MS,
      connectTimeout: CONNECT_MS,
      reconnectOnConnackError: true,
      resubscribe: false,
      ...(ca === null ? {} : { ca: readCa(ca) }),
    })
    const link = new BrokerLink(client)
    const trouble = (error: Error): void => options.onTrouble?.(reasonOf(error))
    client.on('message', (topic, bytes) => {
      const text = bytes.length > MESSAGE_BYTES_MAX ? null : readUtf8(bytes)
      if (text === null)
        options.onTrouble?.(`a message of ${showName(topic)} is too long or no text`)
      else onMessage(topic, text)
    })
    client.on('error', trouble)
    client.on('close', () => {
      link.#isReady = false
    })
    client.on('connect', () => {
      link.#subscribe(topics).then(() => options.onReady?.(), trouble)
    })
    return link
  }

  async #subscribe(topics: readonly string[]): Promise<void> {
    for (const topic of topics) {
      const [grant] = await this.#client.subscribeAsync(topic, { qos: 1 })
      if (grant !== undefined && grant.qos >= 128) {
        throw new Error(`the broker does not let this user read ${topic}`)
      }
    }
    this.#isReady = true
  }

  get isReady(): boolean {
    return this.#isReady && this.#client.connected
  }

  /** Resolves when the broker has acknowledged the message. Fails if it refuses, or is away. */
  async publish(topic: string, text: string, expirySeconds: number): Promise<void> {
    if (!this.isReady) throw faultError('dispatch.broker', topic, 'the broker is away')
    const properties = { messageExpiryInterval: Math.max(1, Math.floor(expirySeconds)) }
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error('no acknowledgement came in time')), PUBLISH_MS)
    })
    try {
      const sent = this.#client.publishAsync(topic, text, { qos: 1, retain: false, properties })
      await Promise.race([sent, late])
    } catch (error) {
      throw faultError('dispatch.broker', topic, `the broker did not take it: ${reasonOf(error)}`)
    } finally {
      clearTimeout(timer)
    }
  }

  async close(): Promise<void> {
    await this.#client.endAsync(true)
  }
}

/** Null for bytes that are not UTF-8. */
function readUtf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}

function readCa(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch {
    throw faultError(
      'dispatch.broker',
      file,
      `the certificates in ${showName(file)} cannot be read`,
    )
  }
}

/** The words of an error on one line; a broker that refuses a password has a code and no words. */
function reasonOf(error: unknown): string {
  // What is thrown here is an error, with a code of the protocol or of the system.
  const { message, code } = error as { readonly message?: string; readonly code?: unknown }
  const words = (message ?? '').replaceAll(/\s+/g, ' ').slice(0, 200)
  return words === '' ? String(code ?? 'no reason given') : words
}
