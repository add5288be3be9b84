/**
 * A tunnel: the proxy answers that it is established, and the client sends its TLS hello. The first byte
 * goes up only if the name in the hello is the one that the client asked for. Without a release, the
 * bytes that go up count against what reading from the host takes; the proxy cuts the tunnel before the
 * byte that would exceed it.
 */
import { HELLO_BYTES_MAX, hostName, readClientHello, UploadMeter } from '../gate/index.ts'
import { gather } from './gather.ts'
import { cut, type ProxiedRequest } from './proxied-request.ts'
import { pump, type SlowTake } from './pump.ts'
import type { Upload } from './traffic.ts'

const GRANTED = 'HTTP/1.1 200 Connection established\r\n\r\n'

export async function carryTunnel(proxied: ProxiedRequest): Promise<void> {
  const { client, server, fromClient, rest, entry, isReleased, beginningMs } = proxied
  client.write(GRANTED)
  const { bytes } = await gather(fromClient, rest, {
    isEnough: (held) => readClientHello(held).state !== 'incomplete',
    bytesMax: HELLO_BYTES_MAX,
    timeoutMs: beginningMs,
  })
  // A tunnel that was never used asked for nothing but to be there.
  if (bytes.length === 0) {
    entry.pass(isReleased)
    client.destroy()
    server.destroy()
    return
  }
  const reading = readClientHello(bytes)
  if (reading.state !== 'hello') return cut(proxied, 'network.not_tls')
  if (reading.name !== null) entry.describe({ sni: reading.name })
  if (!isSameName(proxied, reading.name) || reading.isHidden) return cut(proxied, 'network.sni')
  entry.pass(isReleased)
  await flow(proxied, bytes)
}

/** Clients name no address inside; then the tunnel leads where it was asked to all the same. */
function isSameName({ head }: ProxiedRequest, name: string | null): boolean {
  if (name === null) return head.host.isAddress
  return hostName(name)?.name === head.host.name
}

async function flow(proxied: ProxiedRequest, first: Buffer): Promise<void> {
  const { client, server, fromClient, fromServer, entry, isReleased } = proxied
  const meter = new UploadMeter(true)
  const take: SlowTake = (chunk) => {
    if (isReleased) {
      entry.sent(chunk.length)
      return chunk
    }
    const upload = { bytes: chunk.length, counted: meter.up(chunk) }
    return entry.mayUpload(upload) ? chunk : takeSoon(proxied, chunk, upload)
  }
  const counted = (chunk: Buffer): Buffer => {
    meter.down(chunk.length)
    entry.received(chunk.length)
    return chunk
  }
  const beginning = await take(first)
  if (beginning === null) return
  server.write(beginning)
  pump(fromClient, server, take)
  pump(fromServer, client, counted)
}

/** Waits for what the host still has to answer; without it the tunnel is cut. */
async function takeSoon(
  proxied: ProxiedRequest,
  chunk: Buffer,
  upload: Upload,
): Promise<Buffer | null> {
  if (await proxied.entry.mayUploadSoon(upload)) return chunk
  cut(proxied, 'network.upload')
  return null
}
