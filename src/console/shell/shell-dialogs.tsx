/** Dialogs that are one key away on every page. */
import { useState } from 'react'
import {
  Dialog,
  Heading,
  Input,
  Label,
  Modal,
  ModalOverlay,
  TextField,
} from 'react-aria-components'
import { client } from '../app/service.ts'
import { useSay } from '../app/settings.tsx'
import { AskDialog } from '../parts/ask-dialog.tsx'
import { Press } from '../parts/basics.tsx'
import { Coded } from '../parts/text.tsx'
import type { MessageKey } from '../words/en.ts'

interface Closable {
  readonly onClose: () => void
}

export function HaltDialog({ onClose }: Closable) {
  const say = useSay()
  const [reason, setReason] = useState('')
  const body = reason === '' ? {} : { reason }
  return (
    <AskDialog
      title={say('halt.title')}
      action={say('halt.act')}
      look="danger"
      act={() => client.halt({ body })}
      onClose={onClose}
    >
      <p>{say('halt.says')}</p>
      <p>
        <Coded>{say('halt.whose')}</Coded>
      </p>
      <TextField value={reason} onChange={setReason} className="field">
        <Label>{say('halt.reason')}</Label>
        <Input />
      </TextField>
    </AskDialog>
  )
}

const KEYS: readonly (readonly [string, MessageKey])[] = [
  ['j', 'keys.next'],
  ['k', 'keys.previous'],
  ['Enter', 'keys.open'],
  ['a', 'keys.approve'],
  ['d', 'keys.deny'],
  ['u', 'keys.undo'],
  ['i', 'keys.inbox'],
  ['/', 'keys.search'],
  ['h', 'keys.halt'],
  ['?', 'keys.help'],
]

export function HelpDialog({ onClose }: Closable) {
  const say = useSay()
  return (
    <ModalOverlay
      isOpen
      isDismissable
      onOpenChange={(isOpen) => !isOpen && onClose()}
      className="overlay"
    >
      <Modal className="modal">
        <Dialog className="dialog">
          <Heading slot="title">{say('keys.title')}</Heading>
          <dl className="keys">
            {KEYS.map(([key, words]) => (
              <div key={key}>
                <dt>
                  <kbd>{key}</kbd>
                </dt>
                <dd>{say(words)}</dd>
              </div>
            ))}
          </dl>
          <div className="dialog-buttons">
            <Press look="main" onPress={onClose} autoFocus>
              {say('close')}
            </Press>
          </div>
        </Dialog>
      </Modal>
    </ModalOverlay>
  )
}
