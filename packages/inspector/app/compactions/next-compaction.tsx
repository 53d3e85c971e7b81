import type { PrunePlan } from '@heddle/contracts'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { planQuery } from '../data/queries.js'
import { counted, figure } from '../data/text.js'
import { Failure } from '../parts/failure.js'
import { Loading } from '../parts/loading.js'

/** The plan of the next compaction, requested when it is opened: making it reads the whole thread. */
export function NextCompaction({ thread }: { thread: string }) {
  const [isOpen, setOpen] = useState(false)
  const { data, error, isFetching } = useQuery({ ...planQuery(thread), enabled: isOpen })
  return (
    <section aria-label="Next compaction">
      <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {isOpen ? 'Close the preview' : 'Preview the next compaction'}
      </button>
      {isOpen && isFetching ? <Loading what="the plan" /> : null}
      {isOpen && error ? <Failure error={error} /> : null}
      {isOpen && data ? <Plan plan={data} /> : null}
    </section>
  )
}

const actions = [
  ['summarize', 'would be summarized'],
  ['condense', 'would be condensed'],
  ['stub', 'would be replaced by a line'],
  ['remove', 'would be removed'],
] as const

function Plan({ plan: { due, limitTokens, tokensBefore, tokensAfter, messages } }: { plan: PrunePlan }) {
  return (
    <>
      <p>
        {due ? 'It is due.' : 'It is not due yet.'} The thread has {figure(tokensBefore)} tokens before and{' '}
        {figure(tokensAfter)} after it; the limit is {figure(limitTokens)}.
      </p>
      <ul>
        {actions.map(([action, words]) => {
          const count = messages.filter((message) => message.action === action).length
          return count === 0 ? null : (
            <li key={action}>
              {counted(count, 'message')} {words}
            </li>
          )
        })}
      </ul>
    </>
  )
}
