/** `writ schema`: the contracts as JSON Schema files, for people and other languages. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { FaultError, fault, nearest, showName } from '../../base/index.ts'
import {
  CONTRACTS,
  type Contract,
  contractSummary,
  publishSchema,
  resolveContract,
} from '../../contracts/index.ts'
import { type CommandCall, EXIT, type Exit, usageError } from '../call/command.ts'
import { refuseActorsOut } from '../call/output-file.ts'
import { reasonOf } from '../call/source.ts'

export async function run(call: CommandCall): Promise<Exit> {
  const [name, ...others] = call.arguments
  if (others.length > 0) throw usageError('name one contract, or none')
  const named = name === undefined ? null : find(name)
  const contracts = named === null ? CONTRACTS : [named]
  const folder = call.options.text('out')
  if (folder !== null) await refuseActorsOut(call, folder)
  if (call.options.isOn('summary'))
    await call.terminal.out(`${JSON.stringify(contractSummary(), null, 2)}\n`)
  else if (folder !== null) await writeSchemas(call, contracts, folder)
  else await call.terminal.out(named === null ? listing(call) : pretty(named))
  return EXIT.yes
}

function find(name: string): Contract {
  const found = resolveContract(name)?.contract
  if (found !== undefined) return found
  const near = nearest(
    name,
    CONTRACTS.map((contract) => contract.name),
  )
  const words = { message: `there is no contract ${showName(name)}` }
  throw new FaultError(
    fault(
      'document.unknown_contract',
      '',
      { name, nearest: near },
      near === null ? words : { ...words, hint: `did you mean ${showName(near)}?` },
    ),
  )
}

/** The text of one schema file; files under spec/schemas are exactly this. */
export function pretty(contract: Contract): string {
  return `${JSON.stringify(publishSchema(contract), null, 2)}\n`
}

function listing(call: CommandCall): string {
  if (call.options.isOn('json')) {
    return `${JSON.stringify(Object.fromEntries(CONTRACTS.map((contract) => [contract.name, publishSchema(contract)])))}\n`
  }
  const width = Math.max(...CONTRACTS.map(({ name }) => name.length))
  return CONTRACTS.map(
    ({ name, title }) => `${name.padEnd(width)}  ${call.terminal.paint.dim(title)}\n`,
  ).join('')
}

async function writeSchemas(
  call: CommandCall,
  contracts: readonly Contract[],
  folder: string,
): Promise<void> {
  const written: string[] = []
  try {
    await mkdir(folder, { recursive: true })
    for (const contract of contracts) {
      const file = join(folder, `${contract.name}.json`)
      await writeFile(file, pretty(contract))
      written.push(file)
    }
  } catch (thrown) {
    const reason = reasonOf(thrown)
    const message = `the schemas cannot be written to ${showName(folder)} (${reason})`
    throw new FaultError(
      fault('cli.file_unwritable', folder, { file: folder, reason }, { message }),
    )
  }
  if (call.options.isOn('json')) await call.terminal.out(`${JSON.stringify({ written })}\n`)
  else await call.terminal.out(`${written.length} schemas written to ${folder}\n`)
}
