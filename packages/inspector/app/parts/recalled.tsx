import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { client } from '../data/client.js'
import { Failure } from './failure.js'
import { Folded } from './folded.js'
import { Loading } from './loading.js'

const CHARACTERS_MAX = 100_000

/** The full text of condensed content, requested when it is opened. */
export function Recalled({ reference, thread, label }: { reference: string; thread: string; label: string }) {
  const [isOpen, setOpen] = useState(false)
  const { data, error, isFetching } = useQuery({
    queryKey: ['recall', thread, reference],
    queryFn: () => client.recall({ ref: reference, thread, offset: 0, limit: CHARACTERS_MAX }),
    enabled: isOpen,
    staleTime: Number.POSITIVE_INFINITY,
  })
  return (
    <div className="recalled">
      <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {isOpen ? 'Close the full text' : label}
      </button>
      {isOpen && isFetching ? <Loading what="the full text" /> : null}
      {isOpen && error ? <Failure error={error} /> : null}
      {isOpen && data ? <Folded text={data.content} name={reference} /> : null}
    </div>
  )
}
