/** What is around every page: where to go, whether the page is live, and the halt. */
import { useQuery } from '@tanstack/react-query'
import { Link, Outlet, useNavigate } from '@tanstack/react-router'
import {
  Activity,
  ClipboardCheck,
  GitBranch,
  Inbox,
  ListChecks,
  type LucideIcon,
  Scale,
  ScrollText,
  ShieldCheck,
  Users,
} from 'lucide-react'
import { useCallback, useDeferredValue, useEffect, useState } from 'react'
import { takePress } from '../app/first-press.ts'
import { useKeys } from '../app/keys.ts'
import { useLive } from '../app/live.tsx'
import { reads } from '../app/queries.ts'
import { useSay } from '../app/settings.tsx'
import { useWaitingRuns } from '../flow/waiting-runs.tsx'
import { Press } from '../parts/basics.tsx'
import { Choices } from '../parts/choices.tsx'
import { GoContext } from '../parts/place-link.tsx'
import type { MessageKey } from '../words/en.ts'
import { Frame } from './frame.tsx'
import { HaltedBanner } from './halted-banner.tsx'
import { HaltDialog, HelpDialog } from './shell-dialogs.tsx'

const PLACES: readonly (readonly [string, MessageKey, LucideIcon])[] = [
  ['/', 'nav.inbox', Inbox],
  ['/actions', 'nav.actions', ListChecks],
  ['/sessions', 'nav.sessions', Activity],
  ['/flows', 'nav.flows', GitBranch],
  ['/tasks', 'nav.tasks', ClipboardCheck],
  ['/ledger', 'nav.ledger', ScrollText],
  ['/rules', 'nav.rules', Scale],
  ['/laws', 'nav.laws', ShieldCheck],
  ['/people', 'nav.people', Users],
]

export function Shell() {
  const navigate = useNavigate()
  const [open, setOpen] = useState<'halt' | 'help' | null>(null)
  const [isMenuOpen, setMenuOpen] = useState(false)
  useKeys({
    '?': () => setOpen('help'),
    h: () => setOpen('halt'),
    '/': () => {
      const field = document.querySelector<HTMLInputElement>('input[type="search"]')
      if (field === null) void navigate({ to: '/actions' })
      else field.focus()
    },
    i: () => void navigate({ to: '/' }),
  })
  useEffect(() => setOpen(takePress(['halt'] as const)), [])
  const go = useCallback((to: string) => void navigate({ to }), [navigate])
  return (
    <GoContext value={go}>
      <Frame
        isMenuOpen={isMenuOpen}
        live={useLive()}
        places={<Places onGo={() => setMenuOpen(false)} onHelp={() => setOpen('help')} />}
        onMenu={() => setMenuOpen(!isMenuOpen)}
        onHalt={() => setOpen('halt')}
      >
        <HaltedBanner />
        <Outlet />
      </Frame>
      {open === 'halt' && <HaltDialog onClose={() => setOpen(null)} />}
      {open === 'help' && <HelpDialog onClose={() => setOpen(null)} />}
    </GoContext>
  )
}

interface PlacesProps {
  readonly onGo: () => void
  readonly onHelp: () => void
}

function Places(props: PlacesProps) {
  // The page itself is drawn first.
  return useDeferredValue(true, false) && <PlaceLinks {...props} />
}

function PlaceLinks({ onGo, onHelp }: PlacesProps) {
  const say = useSay()
  const { data: { total: questions } = { total: 0 } } = useQuery(reads.questions(0))
  const { data: undos = [] } = useQuery(reads.undoRequests())
  const total = questions + undos.length + useWaitingRuns().length
  return (
    <>
      {PLACES.map(([to, key, Icon]) => (
        <Link
          key={to}
          to={to}
          activeOptions={{ exact: to === '/' }}
          onClick={onGo}
          className="place"
        >
          <Icon aria-hidden="true" />
          <span>{say(key)}</span>
          {to === '/' && total > 0 && <span className="count">{total}</span>}
        </Link>
      ))}
      <div className="places-end">
        <Choices />
        <Press look="quiet" onPress={onHelp}>
          {say('help.open')} <kbd>?</kbd>
        </Press>
      </div>
    </>
  )
}
