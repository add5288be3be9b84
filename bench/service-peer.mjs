/**
 * The peer of the service: a bare Fastify that parses the same bodies, reads the same number
 * of rows, and puts each body into SQLite durably. A process of its own; prints its address.
 */
import Fastify from 'fastify'
import { connect } from '../dist/store/index.js'

const [file] = process.argv.slice(2)
const database = connect(file, 'create')
database.pragma('journal_mode = WAL')
database.pragma('synchronous = FULL')
database.exec('CREATE TABLE fact (seq INTEGER PRIMARY KEY, text TEXT NOT NULL)')
const insert = database.prepare('INSERT INTO fact (text) VALUES (?) RETURNING seq')
const page = database.prepare('SELECT seq, text FROM fact ORDER BY seq LIMIT ?')

const app = Fastify({ logger: false })
app.post('/facts', async ({ body }) => {
  const { seq } = insert.get(JSON.stringify(body))
  return { seq }
})
app.get('/facts', async ({ query }) => ({
  facts: page.all(Number(query.limit)).map(({ seq, text }) => ({ seq, fact: JSON.parse(text) })),
}))
process.stdout.write(`${await app.listen({ host: '127.0.0.1', port: 0 })}\n`)
