import { Link } from '@tanstack/react-router'
import { visible } from '../data/text.js'

interface ResultLinkProps {
  reference: string
  thread: string
  /** Its time, by which its entry in the archive is found among many. */
  at?: string
  query: string
  /** Stems that the search used for the words of the query. */
  stems?: readonly string[]
}

/** Leads to the whole content, with the terms of the query marked. */
export function ResultLink({ reference, thread, at, query, stems = [] }: ResultLinkProps) {
  const marked = { ...(query !== '' && { query }), ...(stems.length > 0 && { stems: stems.join(' ') }) }
  return (
    <Link to="/result" search={{ ref: reference, thread, ...(at !== undefined && { at }), ...marked }}>
      <code>{visible(reference.split('/').at(-1) ?? reference)}</code>
    </Link>
  )
}
