/** An address that leads nowhere. */
import { Link } from '@tanstack/react-router'
import { useSay } from '../app/settings.tsx'
import { Empty } from '../parts/basics.tsx'

export function NotFoundPage() {
  const say = useSay()
  return (
    <main className="alone">
      <h1>{say('not_found.title')}</h1>
      <Empty title={say('not_found.says')}>
        <Link to="/">{say('not_found.back')}</Link>
      </Empty>
    </main>
  )
}
