/**
 * The other processes of the network's bench, by their first argument: a server that sends as many
 * bytes as the path says, plainly or with TLS, or the proxy. Each tells its port on standard output.
 */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { createServer as createTls } from 'node:tls'

const [, , role, input] = process.argv
const order = JSON.parse(input)
const CHUNK = Buffer.alloc(256 * 1024, 'x')

if (role === 'proxy') {
  const { RunProxy } = await import(new URL('network/index.js', order.dist))
  const proxy = new RunProxy({ ...order.terms, release: null })
  listen(createServer({ allowHalfOpen: true }), (server) => proxy.listenOn(server))
} else if (role === 'tls') {
  const options = { key: readFileSync(order.key), cert: readFileSync(order.cert) }
  listen(createTls(options), (server) => server.on('secureConnection', serve))
} else {
  listen(createServer(), (server) => server.on('connection', serve))
}

function listen(server, prepare) {
  prepare(server)
  server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`))
}

/** One request a connection, by its path alone: the same work for both ways. */
function serve(socket) {
  let head = ''
  socket.on('error', () => undefined)
  socket.on('data', function read(piece) {
    head += piece.toString('latin1')
    if (!head.includes('\r\n\r\n')) return
    socket.removeListener('data', read)
    let left = Number(/^GET \/(\d+)/.exec(head)?.[1] ?? 0)
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${left}\r\nConnection: close\r\n\r\n`)
    const send = () => {
      while (left > 0) {
        const piece = left < CHUNK.length ? CHUNK.subarray(0, left) : CHUNK
        left -= piece.length
        if (!socket.write(piece)) return
      }
      socket.end()
    }
    socket.on('drain', send)
    send()
  })
}
