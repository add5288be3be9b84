/** The addresses of the console. Pages other than the inbox are loaded when used. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import { pageKey } from '../app/page-key.ts'
import { queries, reads } from '../app/queries.ts'
import { InboxPage } from '../pages/inbox.tsx'
import { NotFoundPage } from '../pages/not-found.tsx'
import { Loading } from '../parts/basics.tsx'
import { Problem } from '../parts/found.tsx'
import { Shell } from './around.tsx'

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFoundPage })

const login = createRoute({
  getParentRoute: () => root,
  path: '/login',
  component: lazyRouteComponent(() => import('../pages/login.tsx'), 'LoginPage'),
})

const inside = createRoute({
  getParentRoute: () => root,
  id: 'inside',
  component: Shell,
  beforeLoad: () => {
    if (pageKey() === null) throw redirect({ to: '/login' })
  },
})
const parent = () => inside

const pages = [
  createRoute({ getParentRoute: parent, path: '/', component: InboxPage }),
  createRoute({
    getParentRoute: parent,
    path: '/questions/$id',
    // Together with the script of the page. A refusal is for the page to show.
    loader: ({ params }) => queries.prefetchQuery(reads.question(params.id)),
    pendingComponent: Loading,
    component: lazyRouteComponent(() => import('../pages/question.tsx'), 'QuestionPage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/actions',
    component: lazyRouteComponent(() => import('../pages/actions.tsx'), 'ActionsPage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/actions/$id',
    component: lazyRouteComponent(() => import('../pages/action.tsx'), 'ActionPage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/sessions',
    component: lazyRouteComponent(() => import('../pages/sessions.tsx'), 'SessionsPage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/sessions/$id',
    component: lazyRouteComponent(() => import('../pages/sessions.tsx'), 'SessionPage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/flows',
    component: lazyRouteComponent(() => import('../pages/flows.tsx'), 'FlowsPage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/flows/$id',
    component: lazyRouteComponent(() => import('../pages/flow.tsx'), 'FlowPage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/tasks',
    component: lazyRouteComponent(() => import('../pages/tasks.tsx'), 'TasksPage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/tasks/$id',
    component: lazyRouteComponent(() => import('../pages/tasks.tsx'), 'TaskPage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/ledger',
    component: lazyRouteComponent(() => import('../pages/ledger.tsx'), 'LedgerPage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/rules',
    component: lazyRouteComponent(() => import('../pages/rules.tsx'), 'RulesPage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/laws',
    component: lazyRouteComponent(() => import('../pages/laws.tsx'), 'LawsPage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/people',
    component: lazyRouteComponent(() => import('../pages/people.tsx'), 'PeoplePage'),
  }),
]

export const router = createRouter({
  routeTree: root.addChildren([login, inside.addChildren(pages)]),
  defaultErrorComponent: Problem,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
