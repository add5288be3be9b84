/** The service behind the page: the typed client, proofs by passkey, and the person's browser session. */
import { startAuthentication, startRegistration } from '@simplewebauthn/browser'
import { createClient, ProblemError } from '../../api/index.ts'
import { fetchOnce } from './first-answer.ts'
import { keepPageKey, pageKey } from './page-key.ts'

export const client = createClient({
  url: window.location.origin,
  token: null,
  pageKey,
  fetch: fetchOnce,
})

const SIGNED_OUT: ReadonlySet<string> = new Set(['api.no_token', 'principal.token', 'api.session'])

/** Returns whether an error says that no person is logged in. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof ProblemError && SIGNED_OUT.has(error.problem.code)
}

type RegistrationOptions = Parameters<typeof startRegistration>[0]['optionsJSON']
type AuthenticationOptions = Parameters<typeof startAuthentication>[0]['optionsJSON']

export async function logIn(): Promise<void> {
  const { value } = await client.offerLogin({ body: {} })
  const response = await assertionFor(value.options)
  const { value: session } = await client.login({ body: { response } })
  keepPageKey(session.page_key)
}

export async function logOut(): Promise<void> {
  await client.logout({ body: {} })
  keepPageKey(null)
}

type FirstProof =
  | { readonly passphrase: string }
  | { readonly code: string }
  | { readonly recovery_code: string }

/** Registers a passkey and logs in with it. Returns the recovery codes, which are shown once. */
export async function register(name: string, proof: FirstProof): Promise<readonly string[] | null> {
  const { value } = await client.offerPasskey({ body: { name, proof } })
  // The service makes the options by the same standard.
  const optionsJSON = value.options as unknown as RegistrationOptions
  const response = await startRegistration({ optionsJSON })
  const { value: added } = await client.addPasskey({ body: { response } as never })
  keepPageKey(added.session.page_key)
  return added.recovery_codes
}

async function assertionFor(options: unknown) {
  // The service makes the options, and checks the response, by the same standard.
  const optionsJSON = options as AuthenticationOptions
  return (await startAuthentication({ optionsJSON })) as never
}

interface ProvenRequest {
  readonly params?: Readonly<Record<string, string>>
  readonly body?: Readonly<Record<string, unknown>>
}

/** Routes that need a proof in their request. */
type ProvenRoute = {
  [Name in keyof typeof client]: Parameters<(typeof client)[Name]>[0] extends {
    readonly body: { readonly proof: unknown }
  }
    ? Name
    : never
}[keyof typeof client]

/** Asks the person's passkey for exactly this request, and sends it. */
export async function proven<Name extends ProvenRoute>(
  route: Name,
  { params = {}, body = {} }: ProvenRequest,
): Promise<Awaited<ReturnType<(typeof client)[Name]>>['value']> {
  const asked = { route, ...(Object.keys(params).length === 0 ? {} : { params }), body }
  // The service checks that these are the fields of the named route.
  const { value } = await client.createChallenge({ body: asked })
  const passkey = await assertionFor(value.options)
  // Each function of the client takes the request of its route.
  const call = client[route] as (request: unknown) => Promise<{ readonly value: unknown }>
  const answer = await call({ params, body: { ...body, proof: { passkey } } })
  // The table of routes says what this route answers.
  return answer.value as Awaited<ReturnType<(typeof client)[Name]>>['value']
}
