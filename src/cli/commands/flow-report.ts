/** `writ flow report`: the audit of a run, as JSON, as one HTML file, and what of it was approved. */
import { writeFile } from 'node:fs/promises'
import { FaultError, fault, showName } from '../../base/index.ts'
import { reportOf, reportPage, stopsOf } from '../../flow/index.ts'
import { lookAtRun, missingOutputs, takenBack } from '../../runs/index.ts'
import { type CommandCall, EXIT, type Exit } from '../call/command.ts'
import { withHistory } from '../call/home.ts'
import { refuseActorsOut, refuseOut } from '../call/output-file.ts'
import { reasonOf } from '../call/source.ts'
import { missingText, runText, takenBackText } from '../flow/answer.ts'
import { exportDeliverables } from '../flow/deliverables.ts'
import { namedRun } from '../flow/named.ts'
import { otherMachineOf } from '../flow/other-machine.ts'
import { artifactDiffs, runDrawing } from '../flow/report-parts.ts'
import { withSentAnswers } from '../flow/sent-answers.ts'

export async function run(call: CommandCall): Promise<Exit> {
  const [html, directory] = [call.options.text('html'), call.options.text('deliverables')]
  if (html !== null) await refuseOut(call, html, '--html')
  if (directory !== null) await refuseActorsOut(call, directory, '--deliverables')
  return withHistory(call, async (session) => {
    const { head, stream } = await namedRun(session, call)
    const { home, ledger } = session
    const seen = await lookAtRun({ home, ledger, stream }, head.run_id)
    const walked = await withSentAnswers(ledger, seen)
    const isElsewhere = (await otherMachineOf(ledger, head.run_id)) !== null
    const { flow, facts, state, status } = walked
    const missing = await missingOutputs(ledger, stream, head.run_id)
    const gone = missing.length === 0 ? {} : { missing }
    const taken = await takenBack(ledger, stream, head.run_id, facts)
    const back = taken.length === 0 ? {} : { taken_back: taken }
    const diffs = artifactDiffs(walked)
    const report = {
      ...reportOf(flow, facts, state, walked.waiting),
      status,
      diffs,
      ...gone,
      ...back,
    }
    const { options, terminal } = call
    const [page, folder] = [options.text('html'), options.text('deliverables')]
    if (page !== null) {
      const drawing = await runDrawing(walked)
      await writeText(page, reportPage(report, { drawing, diffs }))
    }
    const delivered = folder === null ? null : await exportDeliverables(walked, folder)
    if (options.isOn('json')) {
      const answer = delivered === null ? report : { ...report, deliverables: delivered }
      await terminal.out(`${JSON.stringify(answer)}\n`)
      return EXIT.yes
    }
    const more = `${takenBackText(taken, terminal)}${missingText(missing, terminal)}`
    await terminal.out(`${runText(walked, terminal, stopsOf(walked), { isElsewhere })}${more}`)
    if (page !== null) await terminal.out(`report: ${showName(page)}\n`)
    if (delivered !== null) {
      const lost = delivered.missing === undefined ? '' : `, ${delivered.missing.length} missing`
      await terminal.out(
        `${delivered.files.length} ${delivered.files.length === 1 ? 'deliverable' : 'deliverables'}${lost}: ${showName(folder ?? '')}\n`,
      )
    }
    return EXIT.yes
  })
}

async function writeText(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text)
  } catch (error) {
    const reason = reasonOf(error)
    const message = `${showName(file)} cannot be written (${reason})`
    throw new FaultError(fault('cli.file_unwritable', file, { file, reason }, { message }))
  }
}
