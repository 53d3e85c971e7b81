import { useMutation, useQueryClient } from '@tanstack/react-query'
import { client } from '../data/client.js'
import { Failure } from '../parts/failure.js'

interface BringBackProps {
  readonly thread: string
  readonly reference: string
  readonly isCovered: boolean
  /** Without the sentence of what it does, where many are listed. */
  readonly isBrief?: boolean
}

/** Pins a message, so that the next context shows it verbatim, whatever compactions do. */
export function BringBack({ thread, reference, isCovered, isBrief = false }: BringBackProps) {
  const queries = useQueryClient()
  const pin = useMutation({
    mutationFn: (isPinned: boolean) =>
      isPinned
        ? client.pins.set({ thread, messageId: reference })
        : client.pins.remove({ thread, messageId: reference }),
    onSuccess: () => {
      for (const noun of ['messages', 'thread']) void queries.invalidateQueries({ queryKey: [noun, thread] })
    },
  })
  const isPinned = pin.data?.action === 'pinned'
  const effect = `It pins the message: the next context shows it verbatim${isCovered ? ' beside the summary' : ''}, if the budget allows.`
  return (
    <div className="bar">
      <button type="button" disabled={pin.isPending} onClick={() => pin.mutate(!isPinned)}>
        {isPinned ? 'Take the pin back' : 'Bring it back'}
        <span className="unseen"> {reference.split('/').at(-1)}</span>
      </button>
      <span role="status" className="quiet">
        {pin.data === undefined
          ? isBrief
            ? ''
            : effect
          : isPinned
            ? 'Pinned: the next context shows it verbatim.'
            : 'The pin was taken back.'}
      </span>
      {pin.error ? <Failure error={pin.error} /> : null}
    </div>
  )
}
