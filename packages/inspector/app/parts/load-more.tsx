import type { ReactNode } from 'react'

interface LoadMoreProps {
  /** The list, as its query has it. */
  readonly pages: {
    readonly hasNextPage: boolean
    readonly isFetchingNextPage: boolean
    fetchNextPage(): Promise<unknown>
  }
  readonly children?: ReactNode
}

/** A button for the next page of a list, until the last one is shown. */
export function LoadMore({ pages, children = 'Load more' }: LoadMoreProps) {
  if (!pages.hasNextPage) return null
  return (
    <button
      type="button"
      className="more"
      disabled={pages.isFetchingNextPage}
      onClick={() => void pages.fetchNextPage()}
    >
      {children}
    </button>
  )
}
