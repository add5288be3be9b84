/** Flows and rules of the request: checked, tested, drawn, turned into another form. Nothing is kept. */
import * as Type from 'typebox'
import { route } from '../shape/route.ts'
import {
  AnyDocument,
  answer,
  Documents,
  FileContents,
  fields,
  Sentence,
  Switch,
  ViolationShape,
  Word,
} from '../shape/shapes.ts'

const Flow = {
  flow: FileContents,
  participants: Type.Optional(FileContents),
  side: Type.Optional(FileContents),
}
const FLOW_FILES = ['flow', 'participants', 'side'] as const
/** Further files that the documents name, such as sub-flows. */
const Files = Type.Optional(
  Type.Record(Type.String({ pattern: '^[\\w-][\\w.-]{0,63}$' }), FileContents, {
    additionalProperties: false,
  }),
)
const Problem = Type.Object(ViolationShape.properties)
const Rules = Type.Array(FileContents, { minItems: 1, maxItems: 200 })
const Form = Type.Optional(Type.Enum(['yaml', 'json']))

export const FLOW_ROUTES = {
  checkFlow: route({
    method: 'POST',
    path: '/v1/flows/check',
    tag: 'flows',
    says: 'Says whether a flow, a plan or an edge table can be walked, and what is odd about it.',
    who: 'caller',
    command: 'flow check',
    runs: { kind: 'document', words: ['flow'], files: FLOW_FILES },
    body: fields({ ...Flow, files: Files, strict: Switch }),
    answers: {
      200: answer({
        valid: Type.Boolean(),
        violations: Type.Array(Problem),
        warnings: Type.Array(Problem),
      }),
    },
  }),
  testFlow: route({
    method: 'POST',
    path: '/v1/flows/test',
    tag: 'flows',
    says: 'Walks a flow as a test document says, and compares; the test names the flow among `files`.',
    who: 'caller',
    command: 'flow test',
    runs: { kind: 'document', words: ['test'], files: ['test'] },
    body: fields({ test: FileContents, files: Files, case: Type.Optional(Word), strict: Switch }),
    answers: {
      200: answer({ passed: Type.Boolean(), files: Documents, coverage: Documents }),
    },
  }),
  importFlow: route({
    method: 'POST',
    path: '/v1/flows/import',
    tag: 'flows',
    says: 'Turns an edge table into a flow document, as YAML.',
    who: 'caller',
    command: 'flow import',
    runs: { kind: 'document', files: ['edges', 'side'], isText: true },
    body: fields({
      edges: Type.String(),
      side: Type.Optional(FileContents),
      id: Type.Optional(Word),
      title: Type.Optional(Word),
    }),
    answers: { 200: Type.String() },
    media: 'text/plain',
  }),
  exportFlow: route({
    method: 'POST',
    path: '/v1/flows/export',
    tag: 'flows',
    says: 'Draws a flow, or writes it as a table or document.',
    who: 'caller',
    command: 'flow export',
    runs: { kind: 'document', words: ['flow'], files: FLOW_FILES, isText: true },
    body: fields({
      ...Flow,
      files: Files,
      format: Type.Optional(Type.Enum(['mermaid', 'dot', 'svg', 'csv', 'json', 'yaml'])),
      at: Type.Optional(Type.Array(Word, { maxItems: 1_000 })),
      all_columns: Switch,
      no_findings: Switch,
    }),
    answers: { 200: Type.String() },
    media: 'text/plain',
  }),
  testRules: route({
    method: 'POST',
    path: '/v1/rules/test',
    tag: 'rules',
    says: 'Runs the test cases of rules and reports what they miss.',
    who: 'caller',
    command: 'rules test',
    runs: { kind: 'document', files: ['rules', 'cases'], folder: 'cases' },
    body: fields({
      rules: Rules,
      cases: Type.Array(AnyDocument, { minItems: 1, maxItems: 1_000 }),
    }),
    answers: {
      200: answer({ passed: Type.Integer(), failed: Type.Integer(), cases: Documents }),
    },
  }),
  proveRules: route({
    method: 'POST',
    path: '/v1/rules/prove',
    tag: 'rules',
    says: 'Proves what rules never or always say, or shows inputs on which they do.',
    who: 'caller',
    command: 'rules prove',
    runs: { kind: 'document', files: ['rules'] },
    body: fields({
      rules: Rules,
      never: Type.Optional(Word),
      always: Type.Optional(Word),
      when: Type.Optional(Sentence),
      action: Type.Optional(Word),
    }),
    answers: { 200: answer({ proved: Type.Boolean() }) },
  }),
  diffRules: route({
    method: 'POST',
    path: '/v1/rules/diff',
    tag: 'rules',
    says: 'Compares two versions of rules and shows each kind of change.',
    who: 'caller',
    command: 'rules diff',
    runs: { kind: 'document', words: ['old', 'new'], files: ['old', 'new'] },
    body: fields({ old: FileContents, new: FileContents }),
    answers: { 200: answer({ equal: Type.Boolean(), changes: Documents }) },
  }),
  formatRules: route({
    method: 'POST',
    path: '/v1/rules/format',
    tag: 'rules',
    says: 'Formats rules.',
    who: 'caller',
    command: 'rules fmt',
    runs: { kind: 'document', words: ['rules'], files: ['rules'], isText: true },
    body: fields({
      rules: FileContents,
      guards: Type.Optional(Type.Enum(['text', 'tree'])),
      to: Form,
    }),
    answers: { 200: Type.String() },
    media: 'text/plain',
  }),
  importRules: route({
    method: 'POST',
    path: '/v1/rules/import',
    tag: 'rules',
    says: 'Turns a template into a ruleset.',
    who: 'caller',
    command: 'rules import',
    runs: { kind: 'document', words: ['template'], files: ['template'], isText: true },
    body: fields({ template: FileContents, to: Form }),
    answers: { 200: Type.String() },
    media: 'text/plain',
  }),
}
