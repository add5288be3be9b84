/** Receivers of messages on the loopback of this machine: web servers, and a server for mail. */
import { createServer, type IncomingMessage } from 'node:http'
import {
  type AddressInfo,
  createServer as createSocketServer,
  type Server,
  type Socket,
} from 'node:net'
import { TLSSocket } from 'node:tls'

export interface Received {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

export type Answer = number | 'hang' | { readonly redirect: string }

/** What receivers say: of that nothing is kept. */
export const THANKS = 'thanks-from-a-receiver-5e1f'

/** Answers each request with the next of its answers; the last one stays. */
export class WebReceiver {
  readonly got: Received[] = []
  readonly #answers: Answer[]
  readonly #server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      this.got.push({ path: request.url ?? '', headers: request.headers, body })
      const answer = this.#answers.length > 1 ? this.#answers.shift() : this.#answers[0]
      if (answer === 'hang' || answer === undefined) return
      if (typeof answer === 'number') response.writeHead(answer).end(THANKS)
      else response.writeHead(307, { location: answer.redirect }).end()
    })
  })

  constructor(...answers: readonly Answer[]) {
    this.#answers = [...answers]
  }

  /** From now on it answers with this. */
  answer(next: Answer): void {
    this.#answers.splice(0, this.#answers.length, next)
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${portOf(this.#server)}`
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }
}

/** Takes mail by the plain form of SMTP (RFC 5321), and keeps what it took. */
export class MailReceiver {
  readonly mails: string[] = []
  readonly #server = createSocketServer((socket) => {
    let [text, isData] = ['', false]
    const say = (line: string): void => void socket.write(`${line}\r\n`)
    socket.on('error', () => undefined)
    socket.on('data', (chunk) => {
      text += chunk
      for (;;) {
        const ending = isData ? '\r\n.\r\n' : '\r\n'
        const end = text.indexOf(ending)
        if (end === -1) return
        const line = text.slice(0, end)
        text = text.slice(end + ending.length)
        if (isData) {
          this.mails.push(line)
          isData = false
          say('250 taken')
        } else if (/^EHLO|^HELO/i.test(line)) say('250 receiver')
        else if (/^DATA/i.test(line)) {
          isData = true
          say('354 go on')
        } else if (/^QUIT/i.test(line)) {
          say('221 bye')
          socket.end()
        } else say('250 fine')
      }
    })
    say('220 receiver')
  })

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return `smtp://127.0.0.1:${portOf(this.#server)}`
  }

  close(): void {
    this.#server.close()
  }
}

/** Takes mail by SMTP with STARTTLS (RFC 3207) and AUTH PLAIN (RFC 4954), and keeps what it heard unencrypted. */
export class SecureMailReceiver {
  readonly mails: string[] = []
  readonly passwords: string[] = []
  /** Everything that came before encryption. */
  plain = ''
  readonly #server: Server

  constructor(tls: { readonly cert: string; readonly key: string }, hasTls: boolean) {
    this.#server = createSocketServer((socket) => {
      socket.on('error', () => undefined)
      this.#talk(socket, hasTls, () => {
        const secure = new TLSSocket(socket, { isServer: true, ...tls })
        secure.on('error', () => undefined)
        this.#talk(secure, false, () => undefined)
      })
      socket.write('220 receiver\r\n')
    })
  }

  /** One half of a conversation: before encryption, or after. */
  #talk(socket: Socket, offersTls: boolean, upgrade: () => void): void {
    let [text, isData] = ['', false]
    const isSecure = socket instanceof TLSSocket
    const say = (...lines: readonly string[]): void =>
      void socket.write(lines.map((line) => `${line}\r\n`).join(''))
    const hear = (chunk: Buffer): void => {
      if (!isSecure) this.plain += chunk
      text += chunk
      for (;;) {
        const ending = isData ? '\r\n.\r\n' : '\r\n'
        const end = text.indexOf(ending)
        if (end === -1) return
        const line = text.slice(0, end)
        text = text.slice(end + ending.length)
        if (isData) {
          this.mails.push(line)
          isData = false
          say('250 taken')
        } else if (/^EHLO/i.test(line)) {
          say('250-receiver', offersTls ? '250 STARTTLS' : '250 AUTH PLAIN')
        } else if (/^STARTTLS/i.test(line) && offersTls) {
          socket.off('data', hear)
          say('220 go on')
          upgrade()
          return
        } else if (/^AUTH PLAIN /i.test(line)) {
          const given = Buffer.from(line.slice('AUTH PLAIN '.length), 'base64').toString()
          this.passwords.push(given.split('\0').at(-1) ?? '')
          say('235 welcome')
        } else if (/^DATA/i.test(line)) {
          isData = true
          say('354 go on')
        } else if (/^QUIT/i.test(line)) {
          say('221 bye')
          socket.end()
        } else say(/^STARTTLS/i.test(line) ? '502 not here' : '250 fine')
      }
    }
    socket.on('data', hear)
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return `smtp://127.0.0.1:${portOf(this.#server)}`
  }

  close(): void {
    this.#server.close()
  }
}

function portOf(server: Server): number {
  // A server that listens on TCP has such an address.
  return (server.address() as AddressInfo).port
}

/** An address at which no process listens. */
export async function closedPort(): Promise<string> {
  const receiver = new WebReceiver(200)
  const url = await receiver.listen()
  receiver.close()
  return url
}
