/** The ledger: facts, checkpoints, proofs, tiles (C2SP tlog-tiles), and facts as they come. */
import * as Type from 'typebox'
import { route } from '../shape/route.ts'
import { closed, Digest, FactDocument, Id, Moment, nullable, StreamName } from '../shape/shapes.ts'

const Stream = Type.Object({ stream: StreamName }, closed)
const Seq = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })

export const STREAM_ROUTES = {
  listStreams: route({
    method: 'GET',
    path: '/v1/streams',
    tag: 'ledger',
    says: 'Lists the streams that the caller may know of.',
    who: 'caller',
    command: null,
    answers: {
      200: Type.Object(
        {
          streams: Type.Array(Type.Object({ stream: StreamName, size: Seq, root: Digest }, closed)),
        },
        closed,
      ),
    },
  }),
  listFacts: route({
    method: 'GET',
    path: '/v1/streams/{stream}/facts',
    tag: 'ledger',
    says: 'Lists facts of a stream; a page names the number behind which the next one begins.',
    who: 'caller',
    command: 'log',
    params: Stream,
    query: Type.Object(
      {
        type: Type.Optional(Type.String()),
        action: Type.Optional(Id),
        task: Type.Optional(Id),
        run: Type.Optional(Id),
        since: Type.Optional(Moment),
        until: Type.Optional(Moment),
        after: Type.Optional(Seq),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
        order: Type.Optional(Type.Enum(['oldest_first', 'newest_first'])),
      },
      closed,
    ),
    answers: {
      200: Type.Object({ facts: Type.Array(FactDocument), next: nullable(Seq) }, closed),
    },
  }),
  showCheckpoint: route({
    method: 'GET',
    path: '/v1/streams/{stream}/checkpoint',
    tag: 'ledger',
    says: 'The newest signed checkpoint of a stream, as a C2SP note.',
    who: 'caller',
    command: 'ledger checkpoint',
    params: Stream,
    answers: { 200: Type.String() },
    media: 'text/plain',
  }),
  proveFact: route({
    method: 'GET',
    path: '/v1/streams/{stream}/proof',
    tag: 'ledger',
    says: 'Proves that a fact is in the tree of the newest checkpoint.',
    who: 'caller',
    command: 'ledger prove',
    spoken: { kind: 'read', words: ['seq'] },
    params: Stream,
    query: Type.Object({ seq: Seq }, closed),
    answers: {
      200: Type.Object(
        {
          seq: Seq,
          leaf: Digest,
          size: Seq,
          root: Digest,
          path: Type.Array(Digest),
          checkpoint: Type.String(),
        },
        closed,
      ),
    },
  }),
  proveKeys: route({
    method: 'GET',
    path: '/v1/streams/{stream}/keys',
    tag: 'ledger',
    says: 'Proves from one key of the home which keys sign a stream now.',
    who: 'caller',
    command: null,
    params: Stream,
    answers: {
      200: Type.Object(
        {
          head: Type.String(),
          changes: Type.Array(
            Type.Object(
              {
                seq: Seq,
                fact: Type.String(),
                path: Type.Array(Digest),
                kept: nullable(
                  Type.Object({ checkpoint: Type.String(), path: Type.Array(Digest) }, closed),
                ),
              },
              closed,
            ),
          ),
        },
        closed,
      ),
    },
  }),
  readTile: route({
    method: 'GET',
    path: '/v1/streams/{stream}/tile/{tile}',
    tag: 'ledger',
    says: 'A tile of the tree, or a bundle of entries, under its C2SP path.',
    who: 'caller',
    command: null,
    params: Type.Object({ stream: StreamName, tile: Type.String() }, closed),
    answers: { 200: Type.String() },
    media: 'application/octet-stream',
  }),
  followEvents: route({
    method: 'GET',
    path: '/v1/events',
    tag: 'ledger',
    says: 'Facts as they come, as server-sent events; `Last-Event-ID` goes on where a reader stopped.',
    who: 'caller',
    command: 'log',
    query: Type.Object(
      {
        stream: Type.Optional(StreamName),
        type: Type.Optional(Type.String()),
        run: Type.Optional(Id),
        session: Type.Optional(Id),
        after: Type.Optional(Type.String()),
      },
      closed,
    ),
    answers: { 200: Type.String() },
    media: 'text/event-stream',
  }),
}
