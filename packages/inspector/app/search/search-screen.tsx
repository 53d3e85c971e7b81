import { useNavigate, useSearch } from '@tanstack/react-router'
import { Empty } from '../parts/empty.js'
import { useTitle } from '../shell/title.js'
import { ArchiveFound } from './archive-found.js'
import { ArchiveList } from './archive-list.js'
import { MessagesFound } from './messages-found.js'
import { SearchForm } from './search-form.js'

export function SearchScreen() {
  useTitle('Search')
  const conditions = useSearch({ from: '/search' })
  const navigate = useNavigate()
  const { query, place } = conditions
  return (
    <div className="screen">
      <h1>Search</h1>
      <SearchForm
        key={JSON.stringify(conditions)}
        conditions={conditions}
        onSearch={(search) => void navigate({ to: '/search', search })}
      />
      {place === 'archive' && query === undefined ? <ArchiveList conditions={conditions} /> : null}
      {place === 'archive' && query !== undefined ? <ArchiveFound conditions={conditions} /> : null}
      {place === undefined && query !== undefined ? <MessagesFound conditions={conditions} /> : null}
      {place === undefined && query === undefined ? (
        <Empty title="Search in all messages">
          <p>
            Give words, such as the port that was named an hour ago, or a sentence with its meaning. The archive lists
            everything that contexts show condensed or not at all, also without words.
          </p>
        </Empty>
      ) : null}
    </div>
  )
}
