/** The console in the page. */
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { I18nProvider } from 'react-aria-components'
import type { Root } from 'react-dom/client'
import { LiveProvider } from './app/live.tsx'
import { queries } from './app/queries.ts'
import { SettingsProvider, useSettings } from './app/settings.tsx'
import { router } from './shell/router.tsx'

export async function openConsole(root: Root, isDrawn: boolean): Promise<void> {
  // What is on the screen stays until its page is there.
  if (isDrawn) await router.load()
  root.render(
    <StrictMode>
      <SettingsProvider>
        <QueryClientProvider client={queries}>
          <LiveProvider>
            <Pages />
          </LiveProvider>
        </QueryClientProvider>
      </SettingsProvider>
    </StrictMode>,
  )
}

function Pages() {
  const { tag } = useSettings()
  return (
    <I18nProvider locale={tag}>
      <RouterProvider router={router} />
    </I18nProvider>
  )
}
