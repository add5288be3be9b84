/** The runs of flows, the newest first. */
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { reads } from '../app/queries.ts'
import { useSay } from '../app/settings.tsx'
import { Empty, PageHead, StatusBadge } from '../parts/basics.tsx'
import { Found } from '../parts/found.tsx'
import { Rows } from '../parts/rows.tsx'
import { Ago, Coded, PathName, Said } from '../parts/text.tsx'

const ROW_HEIGHT = 64

export function FlowsPage() {
  const say = useSay()
  const navigate = useNavigate()
  const query = useQuery(reads.runs())
  return (
    <div className="page page-list">
      <PageHead title={say('flows.title')} />
      <Found query={query}>
        {(runs) =>
          runs.length === 0 ? (
            <Empty title={say('flows.empty')}>
              <Coded>{say('flows.empty_says')}</Coded>
            </Empty>
          ) : (
            <Rows
              label={say('flows.title')}
              items={runs}
              height={ROW_HEIGHT}
              keyOf={({ run_id }) => run_id}
              onOpen={({ run_id }) => void navigate({ to: '/flows/$id', params: { id: run_id } })}
            >
              {({ run_id, title, status, started_at, workspace }) => (
                <div className="inbox-row">
                  <div className="inbox-line">
                    <StatusBadge status={status} />
                    <span className="what">
                      <Said>{title}</Said>
                    </span>
                  </div>
                  <div className="inbox-line quiet">
                    <code>{run_id}</code> <Ago at={started_at} /> <PathName path={workspace} />
                  </div>
                </div>
              )}
            </Rows>
          )
        }
      </Found>
    </div>
  )
}
