/** A dialog that asks once more before something is done, and shows what went wrong. */
import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Dialog, Heading, Modal, ModalOverlay } from 'react-aria-components'
import { queries } from '../app/queries.ts'
import { useSay } from '../app/settings.tsx'
import { Press } from './basics.tsx'
import { Problem } from './found.tsx'

interface AskProps {
  readonly title: string
  readonly action: string
  readonly look?: 'main' | 'danger'
  readonly isReady?: boolean
  readonly children?: ReactNode
  readonly act: () => Promise<unknown>
  readonly onDone?: (() => Promise<void>) | undefined
  readonly onClose: () => void
}

export function AskDialog(props: AskProps) {
  const say = useSay()
  const doing = useMutation({
    mutationFn: props.act,
    // The page is left before anything is read again: what it asked about is no question any more.
    onSuccess: async () => {
      props.onClose()
      await props.onDone?.()
    },
    // After a refusal too the page shows what is recorded now.
    onSettled: () => queries.invalidateQueries(),
  })
  return (
    <ModalOverlay
      isOpen
      isDismissable={!doing.isPending}
      onOpenChange={(isOpen) => !isOpen && props.onClose()}
      className="overlay"
    >
      <Modal className="modal">
        <Dialog className="dialog">
          <Heading slot="title">{props.title}</Heading>
          {props.children}
          {doing.error !== null && <Problem error={doing.error} />}
          <div className="dialog-buttons">
            <Press onPress={props.onClose} isDisabled={doing.isPending}>
              {say('cancel')}
            </Press>
            <Press
              look={props.look ?? 'main'}
              isPending={doing.isPending}
              isDisabled={props.isReady === false}
              onPress={() => doing.mutate()}
            >
              {doing.isPending ? say('working') : props.action}
            </Press>
          </div>
        </Dialog>
      </Modal>
    </ModalOverlay>
  )
}
