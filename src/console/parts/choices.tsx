/** Who is logged in, and how the console looks: colours and language. */
import { useQuery } from '@tanstack/react-query'
import { LogOut } from 'lucide-react'
import { keepPageKey } from '../app/page-key.ts'
import { reads } from '../app/queries.ts'
import { logOut } from '../app/service.ts'
import { useSay, useSettings } from '../app/settings.tsx'
import { Press } from './basics.tsx'
import { Said } from './text.tsx'

const THEMES = ['system', 'light', 'dark'] as const
const LANGUAGES = ['en', 'zh'] as const

/** The option that was chosen; the first where the text is none of them. */
function oneOf<T extends string>(options: readonly [T, ...T[]], text: string): T {
  return options.find((option) => option === text) ?? options[0]
}

export function Choices() {
  const say = useSay()
  const { language, theme, setLanguage, setTheme } = useSettings()
  return (
    <div className="choices">
      <Me />
      <label>
        {say('theme')}
        <select value={theme} onChange={(event) => setTheme(oneOf(THEMES, event.target.value))}>
          <option value="system">{say('theme.system')}</option>
          <option value="light">{say('theme.light')}</option>
          <option value="dark">{say('theme.dark')}</option>
        </select>
      </label>
      <label>
        {say('language')}
        <select
          value={language}
          onChange={(event) => setLanguage(oneOf(LANGUAGES, event.target.value))}
        >
          <option value="en">English</option>
          <option value="zh">中文</option>
        </select>
      </label>
    </div>
  )
}

function Me() {
  const say = useSay()
  const { data } = useQuery({ ...reads.me(), enabled: window.location.pathname !== '/login' })
  if (data === undefined) return null
  const leave = async (): Promise<void> => {
    await logOut().catch(() => keepPageKey(null))
    window.location.assign('/login')
  }
  return (
    <div className="me">
      <Said>{`${data.principal.kind}:${data.principal.id}@${data.principal.namespace}`}</Said>
      <Press look="quiet" onPress={leave}>
        <LogOut aria-hidden="true" /> {say('logout')}
      </Press>
    </div>
  )
}
