/** One run: its graph with the present state, why it stopped, its nodes, a person's answers, and the report. */
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { reads } from '../app/queries.ts'
import { useSay } from '../app/settings.tsx'
import { NodeAnswers } from '../flow/node-answers.tsx'
import { NodeDetails } from '../flow/node-details.tsx'
import { Report } from '../flow/run-report.tsx'
import { Loading, PageHead, Section, StatusBadge } from '../parts/basics.tsx'
import { Found } from '../parts/found.tsx'
import { Said } from '../parts/text.tsx'

const FlowGraph = lazy(async () => ({
  default: (await import('../flow/flow-graph.tsx')).FlowGraph,
}))

interface Stop {
  readonly kind: string
  readonly node_id?: string
  readonly title: string
  readonly says: string
  readonly next?: readonly string[]
}

interface NodeRow {
  readonly node_id: string
  readonly status: string
  readonly attempts: number
}

export function FlowPage() {
  const say = useSay()
  const { id } = useParams({ from: '/inside/flows/$id' })
  const query = useQuery(reads.run(id))
  const [node, setNode] = useState<string | null>(null)
  return (
    <Found query={query}>
      {(run) => {
        // The command that shows a run answers with these fields.
        const stops = (run.stops ?? []) as readonly Stop[]
        const nodes = run.nodes as readonly NodeRow[]
        return (
          <div className="page">
            <PageHead title={run.flow_id}>
              <StatusBadge status={run.status} />
              <code>{id}</code>
            </PageHead>
            {stops.length > 0 && (
              <Section title={say('flow.stops')}>
                <ul className="reasons">
                  {stops.map(({ kind, node_id, title, says, next = [] }) => (
                    <li key={`${kind} ${node_id}`}>
                      <strong>
                        <Said>{title}</Said>
                      </strong>{' '}
                      <Said>{says}</Said>
                      {node_id !== undefined && <NodeAnswers run={id} node={node_id} next={next} />}
                    </li>
                  ))}
                </ul>
              </Section>
            )}
            <Section title={say('flow.graph')}>
              <Suspense fallback={<Loading />}>
                <FlowGraph run={id} nodes={nodes} onOpen={setNode} />
              </Suspense>
            </Section>
            <NodeTable nodes={nodes} onOpen={setNode} />
            {node !== null && <NodeDetails run={id} node={node} />}
            <Findings findings={run.findings} />
            <Report run={id} />
          </div>
        )
      }}
    </Found>
  )
}

function NodeTable(props: {
  readonly nodes: readonly NodeRow[]
  readonly onOpen: (node: string) => void
}) {
  const say = useSay()
  return (
    <Section title={say('flow.nodes')}>
      <div className="scroll">
        <table className="table">
          <thead>
            <tr>
              <th>{say('flow.node')}</th>
              <th>{say('flow.status')}</th>
              <th>{say('flow.attempts')}</th>
            </tr>
          </thead>
          <tbody>
            {props.nodes.map(({ node_id, status, attempts }) => (
              <tr key={node_id}>
                <td>
                  <button
                    type="button"
                    className="press press-quiet"
                    onClick={() => props.onOpen(node_id)}
                  >
                    <Said>{node_id}</Said>
                  </button>
                </td>
                <td>
                  <StatusBadge status={status} />
                </td>
                <td>{attempts}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Section>
  )
}

function Findings({ findings }: { readonly findings: readonly unknown[] }) {
  const say = useSay()
  if (findings.length === 0) return null
  return (
    <Section title={say('flow.findings')}>
      <ul className="reasons">
        {/* Findings have a code and what it says. */}
        {(
          findings as readonly {
            readonly code: string
            readonly says?: string
            readonly seq?: number
          }[]
        ).map(({ code, says, seq }) => (
          <li key={`${seq} ${code}`}>
            <Said>{says ?? ''}</Said> <code className="code">{code}</code>
          </li>
        ))}
      </ul>
    </Section>
  )
}
