/** Results of tests as JUnit XML, which build servers read. */
import type { TestDifference } from './compare.ts'
import type { TestCaseResult } from './run-test.ts'

/** The cases of one test file; `problem` says why none of them was run. */
interface TestSuite {
  readonly file: string
  readonly cases: readonly Pick<TestCaseResult, 'name' | 'passed' | 'differences'>[]
  readonly problem: string | null
}

export function junitXml(suites: readonly TestSuite[]): string {
  const all = suites.map(suiteXml)
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${all.join('')}</testsuites>\n`
}

function suiteXml({ file, cases, problem }: TestSuite): string {
  const failed = cases.filter(({ passed }) => !passed).length
  const numbers =
    problem === null
      ? `tests="${cases.length}" failures="${failed}" errors="0"`
      : 'tests="1" failures="0" errors="1"'
  const error =
    problem === null
      ? ''
      : `    <testcase name="load" classname="${attribute(file)}">\n      <error message="${attribute(problem)}"/>\n    </testcase>\n`
  const inside = cases.map((one) => caseXml(file, one)).join('')
  return `  <testsuite name="${attribute(file)}" ${numbers}>\n${error}${inside}  </testsuite>\n`
}

function caseXml(file: string, { name, passed, differences }: TestSuite['cases'][number]): string {
  const head = `    <testcase name="${attribute(name)}" classname="${attribute(file)}"`
  if (passed) return `${head}/>\n`
  const [first] = differences
  const message = first === undefined ? '' : `${first.at}: ${first.says}`
  const text = differences.map(differenceText).join('\n')
  return `${head}>\n      <failure message="${attribute(message)}">${escaped(text)}</failure>\n    </testcase>\n`
}

function differenceText({ at, says, because }: TestDifference): string {
  return [`${at}: ${says}`, ...because.map((line) => `  ${line}`)].join('\n')
}

/** Characters that XML 1.0 does not have become a replacement character. */
function escaped(text: string): string {
  return (
    text
      // biome-ignore lint/suspicious/noControlCharactersInRegex: XML has no control characters
      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
      .replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '\ufffd')
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
  )
}

function attribute(text: string): string {
  return escaped(text)
    .replaceAll('"', '&quot;')
    .replace(/[\t\n\r]/g, ' ')
}
