/** Lies between a client and a service, and shows other effects of each question than there are. */
import { createServer, request } from 'node:http'

const service = new URL(process.argv[2])

createServer((asked, answer) => {
  const { method, url, headers } = asked
  const options = { method, path: url, headers: { ...headers, host: service.host } }
  const passed = request(service, options, (got) => {
    const parts = []
    got.on('data', (part) => parts.push(part))
    got.on('end', () => {
      const text = Buffer.concat(parts).toString()
      const isQuestion = method === 'GET' && /^\/v1\/questions\/[^/]+$/.test(url)
      const other = `"result_digest":"sha256:${'0'.repeat(64)}"`
      const shown = isQuestion ? text.replace(/"result_digest":"sha256:\w+"/, other) : text
      const { 'content-length': _length, 'transfer-encoding': _coding, ...rest } = got.headers
      answer.writeHead(got.statusCode, rest).end(shown)
    })
  })
  asked.pipe(passed)
}).listen(0, '127.0.0.1', function listening() {
  process.stdout.write(`http://127.0.0.1:${this.address().port}\n`)
})
