/** Who is logged in, and how the console looks: colours and language. */
import { useQuery } from '@tanstack/react-query'
import { LogOut } from 'lucide-react'
import { Press } from '../parts/basics.tsx'
import { Said } from '../parts/text.tsx'
import { reads } from './queries.ts'
import { keepPageKey, logOut } from './service.ts'
import { useSay, useSettings } from './settings.tsx'

export function Choices() {
  const say = useSay()
  const { language, theme, setLanguage, setTheme } = useSettings()
  return (
    <div className="choices">
      <Me />
      <label>
        {say('theme')}
        <select value={theme} onChange={(event) => setTheme(event.target.value as typeof theme)}>
          <option value="system">{say('theme.system')}</option>
          <option value="light">{say('theme.light')}</option>
          <option value="dark">{say('theme.dark')}</option>
        </select>
      </label>
      <label>
        {say('language')}
        <select
          value={language}
          onChange={(event) => setLanguage(event.target.value as typeof language)}
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
