/** What adapters by documentation share: nothing was measured, so nothing is added or listed. */
import type { ModelEndpoint, SessionSettings } from './host.ts'

export const NO_SESSION: SessionSettings = { arguments: [], variables: [] }

/** Models that the vendor's own servers reach; no gateway can stand between. */
export const NO_MODELS: readonly ModelEndpoint[] = []
