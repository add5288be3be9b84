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
  Menu,
  OctagonX,
  Scale,
  ScrollText,
  ShieldCheck,
  Users,
} from 'lucide-react'
import { useDeferredValue, useState } from 'react'
import { useKeys } from '../app/keys.ts'
import { useLive } from '../app/live.tsx'
import { reads } from '../app/queries.ts'
import { useSay } from '../app/settings.tsx'
import { Press } from '../parts/basics.tsx'
import { Choices } from '../parts/choices.tsx'
import type { MessageKey } from '../words/en.ts'
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
  const say = useSay()
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
  return (
    <div className="shell" data-menu={isMenuOpen}>
      <a className="skip" href="#main">
        {say('skip')}
      </a>
      <header className="top">
        <Press
          look="quiet"
          aria-label={say('menu')}
          aria-expanded={isMenuOpen}
          onPress={() => setMenuOpen(!isMenuOpen)}
        >
          <Menu aria-hidden="true" className="menu-icon" />
        </Press>
        <span className="brand">writ</span>
        <LiveMark />
        <span className="grow" />
        <Press look="danger" onPress={() => setOpen('halt')}>
          <OctagonX aria-hidden="true" /> {say('halt')} <kbd>h</kbd>
        </Press>
      </header>
      <Places onGo={() => setMenuOpen(false)} onHelp={() => setOpen('help')} />
      <main id="main" tabIndex={-1}>
        <Outlet />
      </main>
      {open === 'halt' && <HaltDialog onClose={() => setOpen(null)} />}
      {open === 'help' && <HelpDialog onClose={() => setOpen(null)} />}
    </div>
  )
}

interface PlacesProps {
  readonly onGo: () => void
  readonly onHelp: () => void
}

function Places({ onGo, onHelp }: PlacesProps) {
  const say = useSay()
  // The page itself is drawn first.
  const isWhole = useDeferredValue(true, false)
  return (
    <nav className="places" aria-label={say('nav.label')}>
      {isWhole && <PlaceLinks onGo={onGo} onHelp={onHelp} />}
    </nav>
  )
}

function PlaceLinks({ onGo, onHelp }: PlacesProps) {
  const say = useSay()
  const { data: { total } = { total: 0 } } = useQuery(reads.questions(0))
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

function LiveMark() {
  const say = useSay()
  const state = useLive()
  return (
    <span className={`live live-${state}`} role="status">
      {say(`live.${state}`)}
    </span>
  )
}
