/**
 * Room: configuration. Edits of configurations in JSON, YAML and TOML that leave everything else as
 * it is written. Pure. Sees base and contracts.
 */
export {
  type ConfigurationChange,
  type ConfigurationFormat,
  editConfiguration,
  readConfiguration,
} from './edit.ts'
export { type ConfigurationFailure, exitStatusOf, failureOfStatus } from './failure.ts'
