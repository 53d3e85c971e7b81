import { type FormEvent, type ReactNode, useId } from 'react'

interface FindFormProps {
  readonly query: string | undefined
  onFind(query: string): void
  /** Further fields. */
  readonly children?: ReactNode
}

/** The words of a statement that somebody made. */
export function FindForm({ query, onFind, children }: FindFormProps) {
  const id = useId()
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    onFind(String(new FormData(event.currentTarget).get('query') ?? '').trim())
  }
  return (
    <search>
      <form className="search-form" onSubmit={submit} aria-label="Find a statement">
        <span className="field wide">
          <label htmlFor={id}>Words of a statement</label>
          <input key={query} id={id} name="query" type="search" maxLength={1_000} defaultValue={query ?? ''} />
        </span>
        {children}
        <button type="submit">Find</button>
      </form>
    </search>
  )
}
