import type { ContextResult } from '@heddle/contracts'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { FindForm } from '../find/find-form.js'
import { NotAsked } from '../find/not-asked.js'
import { Statements } from '../find/statements.js'

const ROUTE = '/threads/$thread/contexts/$context'

/** Whether the model saw a statement: messages with its words, and what became of each in this context. */
export function FindInContext({ context, requestedAt }: { context: ContextResult; requestedAt: string | undefined }) {
  const { query } = useSearch({ from: ROUTE })
  const navigate = useNavigate({ from: ROUTE })
  return (
    <section aria-label="Did it see this?" className="part">
      <FindForm
        query={query}
        onFind={(text) => void navigate({ search: text === '' ? { view: 'find' } : { view: 'find', query: text } })}
      />
      {query === undefined ? <NotAsked /> : <Statements context={context} requestedAt={requestedAt} query={query} />}
    </section>
  )
}
