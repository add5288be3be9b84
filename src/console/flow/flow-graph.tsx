/** The graph of a run, with the present state of each node. */
import { graphlib, layout } from '@dagrejs/dagre'
import { useQuery } from '@tanstack/react-query'
import { Background, Controls, Position, ReactFlow } from '@xyflow/react'
import { useMemo } from 'react'
import { visible } from '../../base/index.ts'
import { reads } from '../app/queries.ts'
import { StatusBadge } from '../parts/basics.tsx'
import { Found } from '../parts/found.tsx'
import { Said } from '../parts/text.tsx'
import '@xyflow/react/dist/style.css'

interface NodeRow {
  readonly node_id: string
  readonly status: string
}

interface GraphProps {
  readonly run: string
  readonly nodes: readonly NodeRow[]
  readonly onOpen: (node: string) => void
}

interface FlowDocument {
  readonly nodes: readonly { readonly node_id: string; readonly title?: string }[]
  readonly edges: readonly {
    readonly edge_id: string
    readonly source: string
    readonly target: string
    readonly label?: string
  }[]
}

const SIZE = { width: 190, height: 64 }

export function FlowGraph(props: GraphProps) {
  const query = useQuery(reads.runFlow(props.run))
  return (
    <Found query={query}>
      {(text) => {
        const flow = (typeof text === 'string' ? JSON.parse(text) : text) as FlowDocument // As exported.
        return <Drawn {...props} flow={flow} />
      }}
    </Found>
  )
}

function Drawn({ flow, nodes, onOpen }: GraphProps & { readonly flow: FlowDocument }) {
  const drawn = useMemo(() => placed(flow), [flow])
  const states = new Map(nodes.map(({ node_id, status }) => [node_id, status]))
  return (
    <div className="graph">
      <ReactFlow
        nodes={drawn.nodes.map(({ title, ...node }) => ({
          ...node,
          data: { label: <NodeLabel title={title} status={states.get(node.id) ?? ''} /> },
          className: 'graph-node',
        }))}
        edges={drawn.edges}
        fitView
        nodesDraggable={false}
        nodesConnectable={false}
        proOptions={{ hideAttribution: true }}
        onNodeClick={(_event, { id }) => onOpen(id)}
      >
        <Background />
        <Controls showInteractive={false} />
      </ReactFlow>
    </div>
  )
}

const ENDS = { sourcePosition: Position.Right, targetPosition: Position.Left }

function NodeLabel({ title, status }: { readonly title: string; readonly status: string }) {
  return (
    <>
      <Said>{title}</Said>
      {status !== '' && (
        <span className="block">
          <StatusBadge status={status} />
        </span>
      )}
    </>
  )
}

function placed({ nodes, edges }: FlowDocument) {
  const graph = new graphlib.Graph({ multigraph: true })
  graph.setGraph({ rankdir: 'LR', nodesep: 24, ranksep: 60 })
  graph.setDefaultEdgeLabel(() => ({}))
  for (const { node_id } of nodes) graph.setNode(node_id, { ...SIZE })
  for (const { source, target, edge_id } of edges) graph.setEdge(source, target, {}, edge_id)
  layout(graph)
  return {
    nodes: nodes.map(({ node_id, title }) => {
      const { x, y } = graph.node(node_id)
      const position = { x: x - SIZE.width / 2, y: y - SIZE.height / 2 }
      return { id: node_id, position, title: title ?? node_id, style: SIZE, ...ENDS }
    }),
    edges: edges.map(({ edge_id, source, target, label = '' }) => ({
      id: edge_id,
      source,
      target,
      label: visible(label),
    })),
  }
}
