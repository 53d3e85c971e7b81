import { useMutation, useQueryClient } from '@tanstack/react-query'
import { client } from '../data/client.js'
import { Failure } from '../parts/failure.js'

/** Pins a message, so that the next context shows it verbatim, whatever compactions do. */
export function BringBack({ thread, reference, isCovered }: { thread: string; reference: string; isCovered: boolean }) {
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
  return (
    <div className="bar">
      <button type="button" disabled={pin.isPending} onClick={() => pin.mutate(!isPinned)}>
        {isPinned ? 'Take the pin back' : 'Pin it'}
        <span className="unseen"> {reference}</span>
      </button>
      <span role="status" className="quiet">
        {pin.data === undefined
          ? `The next context then shows it verbatim${isCovered ? ' beside the summary' : ''}, if the budget allows.`
          : isPinned
            ? 'Pinned: the next context shows it verbatim.'
            : 'The pin was taken back.'}
      </span>
      {pin.error ? <Failure error={pin.error} /> : null}
    </div>
  )
}
