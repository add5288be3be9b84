/** Commands that bring tasks to devices, and the command of a device. */
import { type Command, HOME, PASS_FD, STREAM } from '../call/command.ts'

const DIR = {
  name: 'dir',
  value: 'DIR',
  says: 'where the device keeps its key and its journal; `writ-device` without it',
} as const

export const FIELD_COMMANDS: readonly Command[] = [
  {
    name: 'dispatch run',
    says: 'bring issued tasks to the devices that they are for',
    usage: 'writ dispatch run [--once] [--jsonl]',
    options: [
      { name: 'once', value: null, says: 'look once and end' },
      { name: 'jsonl', value: null, says: 'print one JSON document an event' },
      { name: 'attached', value: null, says: 'end when standard input ends' },
      HOME,
    ],
    examples: ['writ dispatch run', 'writ dispatch run --once --jsonl'],
    load: async () => ({ run: (await import('./dispatch.ts')).run }),
  },
  {
    name: 'dispatch check',
    says: 'try the brokers that the settings name, and whether they keep devices apart',
    usage: 'writ dispatch check',
    options: [HOME],
    examples: ['writ dispatch check', 'writ dispatch check --json'],
    load: async () => ({ run: (await import('./dispatch.ts')).check }),
  },
  {
    name: 'device run',
    says: 'carry out the tasks of a device, each at most once',
    usage:
      'writ device run ID@NAMESPACE --home-key KEY (--url URL | --broker URL) (--simulate | --calls FILE | -- COMMAND…)',
    options: [
      {
        name: 'home-key',
        value: 'KEY',
        many: true,
        says: 'the key of the home, as `writ ledger key` prints it there',
      },
      { name: 'url', value: 'URL', says: 'the service; the token is in WRIT_TOKEN' },
      { name: 'broker', value: 'URL', says: 'the MQTT broker, `mqtts://HOST:PORT`' },
      { name: 'user', value: 'NAME', says: 'the user at the broker; NAMESPACE/ID without it' },
      { name: 'password-file', value: 'FILE', says: 'the password at the broker' },
      { name: 'ca', value: 'FILE', says: 'the certificates that vouch for the broker' },
      { name: 'prefix', value: 'TOPIC', says: 'what the topics are below; `writ` without it' },
      { name: 'simulate', value: null, says: 'do nothing, and say that it was done' },
      { name: 'seconds', value: 'N', says: 'how long a simulated task takes; 1 without it' },
      { name: 'calls', value: 'FILE', says: 'carry tasks out by calls over HTTP or MQTT' },
      { name: 'jsonl', value: null, says: 'print one JSON document an event' },
      DIR,
    ],
    examples: [
      'WRIT_TOKEN=… writ device run pump-3@north-farm --home-key "$KEY" --url https://farm.example:4180 --simulate',
      'writ device run pump-3@north-farm --home-key "$KEY" --broker mqtts://broker.example:8883 --password-file pass -- ./pump',
    ],
    here: 'a device carries its tasks out where it is',
    load: async () => ({ run: (await import('./device.ts')).run }),
  },
  {
    name: 'device key',
    says: 'print the key of a device, and make it if there is none',
    usage: 'writ device key [--dir DIR]',
    options: [DIR],
    examples: ['writ device key', 'writ device key --dir /var/lib/pump-3'],
    here: 'the key of a device stays where the device is',
    load: async () => ({ run: (await import('./device.ts')).key }),
  },
  {
    name: 'device enroll',
    says: 'register the key with which a device signs what it reports over MQTT',
    usage: 'writ device enroll ID@NAMESPACE KEY|--remove [--pass-fd N]',
    options: [{ name: 'remove', value: null, says: 'believe its key no longer' }, PASS_FD, HOME],
    examples: [
      'writ device enroll pump-3@north-farm 11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=',
      'writ device enroll pump-3@north-farm --remove',
    ],
    load: async () => ({ run: (await import('./device-keys.ts')).enroll }),
  },
  {
    name: 'device list',
    says: 'list the devices with a key',
    usage: 'writ device list',
    options: [HOME],
    examples: ['writ device list'],
    load: async () => ({ run: (await import('./device-keys.ts')).list }),
  },
  {
    name: 'task withdraw',
    says: 'end the offer of a task that no device has started',
    usage: 'writ task withdraw ID [--reason TEXT] [--stream NAME] [--pass-fd N]',
    options: [
      { name: 'reason', value: 'TEXT', says: 'why, for the record' },
      STREAM,
      PASS_FD,
      HOME,
    ],
    examples: ['writ task withdraw act-0197f2a4-7c11-7d3e-8a55-0c4e2b9d6f01 --reason "rain"'],
    load: async () => ({ run: (await import('./task-withdraw.ts')).run }),
  },
]
