/** The key of a device (Ed25519): a file that only its user reads. It signs what the device says. */
import { createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto'
import { join } from 'node:path'
import { faultError, showName } from '../base/index.ts'
import { makeFolder, readIfThere, writeWhole } from '../machine/index.ts'

export interface DeviceKey {
  /** Base64 of 32 bytes. */
  readonly publicKey: string
  /** Returns base64 of 64 bytes. */
  sign(text: string): string
}

const FILE = 'device.key'

/** Reads the key of a folder, and makes one if there is none; `onNew` hears of that. */
export function openDeviceKey(
  folder: string,
  onNew: (publicKey: string, file: string) => void = () => undefined,
): DeviceKey {
  const file = join(folder, FILE)
  const kept = readIfThere(file)
  if (kept !== null) return keyOf(kept, file)
  makeFolder(folder, 0o700)
  const { privateKey } = generateKeyPairSync('ed25519')
  // The type of the export follows from its options.
  const text = privateKey.export({ format: 'pem', type: 'pkcs8' }) as string
  writeWhole(file, text, 0o600)
  const key = keyOf(text, file)
  onNew(key.publicKey, file)
  return key
}

function keyOf(text: string, file: string): DeviceKey {
  try {
    const privateKey = createPrivateKey(text)
    const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' })
    return {
      publicKey: Buffer.from(x, 'base64url').toString('base64'),
      sign: (said) => sign(null, Buffer.from(said), privateKey).toString('base64'),
    }
  } catch {
    const message = `${showName(file)} does not hold the key of a device`
    throw faultError('dispatch.key', file, message, 'move the file away, and enroll a new key')
  }
}
