/** The frame of every page: the top line with the halt, the places to go to, and the page. */
import { Menu, OctagonX } from 'lucide-react'
import type { ReactNode } from 'react'
import { useSay } from '../app/settings.tsx'
import { Press } from '../parts/basics.tsx'

interface FrameProps {
  readonly isMenuOpen?: boolean
  readonly live: 'off' | 'live' | 'lost'
  readonly places?: ReactNode
  readonly onMenu?: () => void
  readonly onHalt: () => void
  readonly children: ReactNode
}

export function Frame(props: FrameProps) {
  const say = useSay()
  const { isMenuOpen = false, live, onMenu, onHalt } = props
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
          {...(onMenu === undefined ? {} : { onPress: onMenu })}
        >
          <Menu aria-hidden="true" className="menu-icon" />
        </Press>
        <span className="brand">writ</span>
        <span className={`live live-${live}`} role="status">
          {say(`live.${live}`)}
        </span>
        <span className="grow" />
        <Press look="danger" onPress={onHalt}>
          <OctagonX aria-hidden="true" /> {say('halt')} <kbd>h</kbd>
        </Press>
      </header>
      <nav className="places" aria-label={say('nav.label')}>
        {props.places}
      </nav>
      <main id="main" tabIndex={-1}>
        {props.children}
      </main>
    </div>
  )
}
