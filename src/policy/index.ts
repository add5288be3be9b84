/**
 * Room: policy. One model of policies for gate and flow: priorities, conflicts, overrides; the laws
 * of the gate, loaded and judged. Pure. Sees base, contracts and expression.
 */
export {
  ACTIONS_BY_STRICTNESS,
  type Conflict,
  judgePolicies,
  type Policy,
  type ViolationAction,
} from './conflict.ts'
export {
  BUILT_IN_LAWS,
  DEFAULT_GRANTS,
  DEFAULT_LAW_DOCUMENTS,
  DEFAULT_LAWS,
} from './default-laws.ts'
export {
  type LawChange,
  type LawPlaces,
  placeGlob,
} from './effects.ts'
export { flowEnvironment } from './environments.ts'
export {
  judgeLaws,
  judgeLawsInFull,
  judgeRecorded,
  type LawBreach,
  type LawJudgement,
  type LawPhase,
  type LawValues,
} from './judge-laws.ts'
export {
  DEFAULT_SETTINGS,
  type GateSettings,
  type Law,
  type LawSet,
  type RetentionSettings,
} from './law.ts'
export { type LawDifference, lawDifferences } from './law-differences.ts'
export { type LawText, readLawText, type TextRefusal } from './law-text.ts'
export { fewHumansWarnings, mostApprovals } from './law-warnings.ts'
export {
  bareLaws,
  FIRST_GROUND,
  LAYERED,
  type LawFault,
  type LawGround,
  lawsOfDocument,
  loadLaws,
  type ParsedLaws,
  WHOLE,
} from './load-laws.ts'
