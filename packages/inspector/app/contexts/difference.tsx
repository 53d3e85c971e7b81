import type { ContextDiff } from '@heddle/contracts'
import { useQuery } from '@tanstack/react-query'
import { diffQuery } from '../data/queries.js'
import { counted, figure, visible } from '../data/text.js'
import { Empty } from '../parts/empty.js'
import { Failure } from '../parts/failure.js'
import { Loading } from '../parts/loading.js'
import { WideTable } from '../parts/wide-table.js'

export function Difference({ before, after }: { before: string | undefined; after: string }) {
  const { data, error, isPending } = useQuery({ ...diffQuery(before ?? '', after), enabled: before !== undefined })
  if (before === undefined)
    return (
      <Empty title="There is no context before this one">
        <p>It is the first stored context of the thread. Build another one to compare both.</p>
      </Empty>
    )
  if (isPending) return <Loading what="the difference" />
  if (error) return <Failure error={error} />
  return <Differences diff={data} />
}

const lists = [
  ['cameIn', 'Came in'],
  ['wentOut', 'Went out'],
  ['changed', 'Changed'],
  ['moved', 'Moved'],
] as const

function Differences({ diff }: { diff: ContextDiff }) {
  const { delivered, sections, tokens, settings } = diff
  return (
    <section aria-label="Difference">
      <p>
        {figure(delivered.same)} of {figure(delivered.after)} delivered pieces are those of the context before, which
        had {figure(delivered.before)}. Both begin with the same {counted(delivered.sharedPrefixTokens, 'token')}.
      </p>
      <Table
        caption="Tokens of both"
        head={['Section', 'Before', 'After', 'Change']}
        rows={[...sections, { name: 'total', ...tokens }]
          .filter((row) => row.before + row.after > 0)
          .map((row) => [row.name, figure(row.before), figure(row.after), signed(row.after - row.before)])}
      />
      {settings.length > 0 ? (
        <Table
          caption="Settings"
          head={['Setting', 'Before', 'After']}
          rows={settings.map((row) => [row.name, JSON.stringify(row.before), JSON.stringify(row.after)])}
        />
      ) : null}
      {lists.map(([list, title]) =>
        diff[list].length === 0 ? null : (
          <Table
            key={list}
            caption={`${title}: ${figure(diff[list].length)}`}
            head={['What', 'Role', 'Was', 'Is', 'Tokens', 'Reason']}
            rows={diff[list].map(({ what, role = '', before, after }) => [
              visible(what),
              role,
              before?.mode ?? '–',
              after?.mode ?? '–',
              signed((after?.tokens ?? 0) - (before?.tokens ?? 0)),
              visible(after?.reason ?? before?.reason ?? ''),
            ])}
          />
        ),
      )}
    </section>
  )
}

const signed = (change: number) => `${change > 0 ? '+' : ''}${figure(change)}`

interface TableProps {
  caption: string
  head: readonly string[]
  rows: readonly (readonly string[])[]
}

const FIGURE = /^[+-]?[\d,]+$/

function Table({ caption, head, rows }: TableProps) {
  const columns = head.map((name, place) =>
    rows.every((row) => FIGURE.test(row[place] ?? '')) ? { figures: name } : name,
  )
  return (
    <WideTable name={caption} columns={columns} isCaptioned>
      {rows.map((row) => (
        <tr key={row.join()}>
          {row.map((cell, column) => (
            <td key={head[column]} className={FIGURE.test(cell) ? 'number' : undefined}>
              {cell}
            </td>
          ))}
        </tr>
      ))}
    </WideTable>
  )
}
