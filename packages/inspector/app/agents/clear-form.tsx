import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { client } from '../data/client.js'
import { useMay } from '../data/permissions.js'
import { counted } from '../data/text.js'
import { Failure } from '../parts/failure.js'

/** Clears the window of all threads of an agent. It asks first, and says what stays. */
export function ClearForm({ agent }: { agent: string }) {
  const mayClear = useMay('produce')
  const queries = useQueryClient()
  const [isAsking, setAsking] = useState(false)
  const clear = useMutation({
    mutationFn: () => client.agents.clear(agent),
    onSuccess: async () => {
      setAsking(false)
      await queries.invalidateQueries({ queryKey: ['agent', agent] })
    },
  })
  if (!mayClear) return null
  return (
    <section className="part" aria-label="Clear">
      {isAsking ? (
        <>
          <p>
            Contexts of all its threads then begin with the next message. Nothing is erased: messages are still found
            and recalled, and a snapshot saved before restores them.
          </p>
          <p className="bar">
            <button type="button" disabled={clear.isPending} onClick={() => clear.mutate()}>
              Clear the windows now
            </button>
            <button type="button" onClick={() => setAsking(false)}>
              Keep them
            </button>
          </p>
        </>
      ) : (
        <p>
          <button type="button" onClick={() => setAsking(true)}>
            Clear its windows …
          </button>
        </p>
      )}
      <p role="status">
        {clear.data ? `${counted(clear.data.threads, 'thread')} with messages hidden by the clear` : ''}
      </p>
      {clear.error ? <Failure error={clear.error} /> : null}
    </section>
  )
}
