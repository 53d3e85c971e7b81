import { Dialog } from '@base-ui/react/dialog'
import type { ContextResult } from '@heddle/contracts'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { contextQuery, itemsQuery } from '../data/queries.js'
import { figure, visible } from '../data/text.js'
import { Failure } from '../parts/failure.js'
import { Loading } from '../parts/loading.js'
import { columnsOf, type ItemType } from './columns.js'
import { ItemRow } from './item-row.js'

/** The rules, references and tools of the request that a message answered; read-only. */
export function RequestContextDialog({ context, onClose }: { context: string | undefined; onClose(): void }) {
  return (
    <Dialog.Root open={context !== undefined} onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="dialog">
          <header>
            <Dialog.Title>Request context</Dialog.Title>
            <Dialog.Close>Close</Dialog.Close>
          </header>
          {context === undefined ? null : <Body id={context} />}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

function Body({ id }: { id: string }) {
  const { data, error, isPending } = useQuery(contextQuery(id))
  if (isPending) return <Loading what="the request context" />
  if (error) return <Failure error={error} />
  return (
    <>
      <p className="bar">
        {figure(data.tokensUsed)} of {figure(data.budget)} tokens:{' '}
        <Link to="/threads/$thread/contexts/$context" params={{ thread: data.thread, context: id }}>
          Show the whole context
        </Link>
        <Link to="/threads/$thread/find" params={{ thread: data.thread }} search={{ context: id }}>
          Did it see this?
        </Link>
      </p>
      <Columns context={data} />
      <LeftOutItems context={data} />
    </>
  )
}

const titles: readonly (readonly [ItemType, string])[] = [
  ['rule', 'Rules'],
  ['reference', 'References'],
  ['tool', 'Tools'],
]

function Columns({ context: { agent, items } }: { context: ContextResult }) {
  const details = useQuery({ ...itemsQuery(agent), enabled: items.length > 0 })
  if (items.length === 0)
    return (
      <Dialog.Description>
        Besides its messages, no rule, reference or tool was in this request. Give the agent some with{' '}
        <code>heddle items put</code>, and later requests show them here.
      </Dialog.Description>
    )
  const columns = columnsOf(items, details.data ?? [])
  return (
    <>
      {details.isPending ? <Loading what="descriptions and priorities" /> : null}
      {details.error ? <Failure error={details.error} /> : null}
      <div className="columns">
        {titles.map(([type, title]) => (
          <section key={type} aria-label={title}>
            <h3>
              {title} <span className="quiet">{columns[type].length}</span>
            </h3>
            {columns[type].length === 0 ? <p className="quiet">none</p> : null}
            <ul>
              {columns[type].map((item) => (
                <ItemRow key={`${item.serverName ?? ''} ${item.name}`} item={item} />
              ))}
            </ul>
          </section>
        ))}
      </div>
    </>
  )
}

function LeftOutItems({ context: { receipt } }: { context: ContextResult }) {
  const left = receipt.entries.filter(({ item, mode }) => item !== undefined && mode === 'left-out')
  if (left.length === 0) return null
  return (
    <section aria-label="Left out" className="left-out">
      <h3>Left out</h3>
      <ul>
        {left.map(({ item, reason }) => (
          <li key={item?.itemId}>
            {item?.type} <bdi>{visible(item?.name ?? '')}</bdi>: {visible(reason)}
          </li>
        ))}
      </ul>
    </section>
  )
}
