import { archiveKinds, limits, searchKinds } from '@heddle/contracts'
import { type FormEvent, useId } from 'react'
import { type Conditions, readConditions } from './conditions.js'
import { toIso, toLocal } from './local-time.js'

interface SearchFormProps {
  conditions: Conditions
  onSearch(conditions: Conditions): void
}

/** Conditions of a search; the address takes them when it is submitted. */
export function SearchForm({ conditions, onSearch }: SearchFormProps) {
  const id = useId()
  const { query, place, by, kind, path, tool, thread, agent, since, until } = conditions
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const fields = Object.fromEntries(new FormData(event.currentTarget)) as Record<string, string>
    const times = { since: toIso(fields['since']), until: toIso(fields['until']) }
    const given = Object.entries({ ...fields, ...times }).map(([name, value]) => [name, value?.trim()])
    onSearch(readConditions(Object.fromEntries(given)))
  }
  const choosePlace = (chosen: string) => {
    const { place: _, tool: __, kind: ___, ...others } = conditions
    onSearch(chosen === 'archive' ? { ...others, place: 'archive' } : others)
  }
  const input = (name: 'path' | 'tool' | 'thread' | 'agent', label: string, value: string | undefined) => (
    <span className="field">
      <label htmlFor={`${id}-${name}`}>{label}</label>
      <input id={`${id}-${name}`} name={name} defaultValue={value ?? ''} maxLength={limits.pathCharactersMax} />
    </span>
  )
  const kinds = place === 'archive' ? archiveKinds : searchKinds
  return (
    <search>
      <form className="search-form" onSubmit={submit} aria-label="Search">
        <span className="field wide">
          <label htmlFor={`${id}-query`}>Words or a sentence</label>
          <input
            id={`${id}-query`}
            name="query"
            type="search"
            maxLength={limits.searchCharactersMax}
            defaultValue={query ?? ''}
          />
        </span>
        <span className="field">
          <label htmlFor={`${id}-place`}>In</label>
          <select
            id={`${id}-place`}
            name="place"
            value={place ?? ''}
            onChange={({ target }) => choosePlace(target.value)}
          >
            <option value="">all messages</option>
            <option value="archive">the archive</option>
          </select>
        </span>
        <span className="field">
          <label htmlFor={`${id}-by`}>By</label>
          <select id={`${id}-by`} name="by" defaultValue={by ?? ''}>
            <option value="">words and meaning</option>
            <option value="words">words</option>
            <option value="meaning">meaning</option>
          </select>
        </span>
        <span className="field">
          <label htmlFor={`${id}-kind`}>Kind</label>
          <select id={`${id}-kind`} name="kind" defaultValue={kind ?? ''}>
            <option value="">all kinds</option>
            {kinds.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </span>
        {place === 'archive' ? input('tool', 'Tool', tool) : null}
        {input('path', 'File or folder', path)}
        {input('thread', 'Thread', thread)}
        {input('agent', 'Agent', agent)}
        <span className="field">
          <label htmlFor={`${id}-since`}>Since</label>
          <input id={`${id}-since`} name="since" type="datetime-local" defaultValue={toLocal(since)} />
        </span>
        <span className="field">
          <label htmlFor={`${id}-until`}>Before</label>
          <input id={`${id}-until`} name="until" type="datetime-local" defaultValue={toLocal(until)} />
        </span>
        <button type="submit">Search</button>
      </form>
    </search>
  )
}
