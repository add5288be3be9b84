/** The devices that have a key, by which what they report over MQTT is known to be theirs. */
import { useQuery } from '@tanstack/react-query'
import { reads } from '../app/queries.ts'
import { useSay } from '../app/settings.tsx'
import { Section } from '../parts/basics.tsx'
import { Found } from '../parts/found.tsx'
import { Ago, Coded, Said } from '../parts/text.tsx'

export function DeviceList() {
  const say = useSay()
  const query = useQuery(reads.devices())
  return (
    <Section title={say('tasks.devices')}>
      <Found query={query}>
        {(devices) =>
          devices.length === 0 ? (
            <p className="quiet">
              <Coded>{say('tasks.no_devices')}</Coded>
            </p>
          ) : (
            <ul className="facts">
              {devices.map(({ device, key, set_at }) => (
                <li key={device} className="fact">
                  <strong>
                    <Said>{device}</Said>
                  </strong>{' '}
                  <code>
                    <Said>{key}</Said>
                  </code>{' '}
                  <span className="quiet">
                    {say('tasks.key_set')} <Ago at={set_at} />
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </Found>
    </Section>
  )
}
