import { Tooltip } from '@base-ui/react/tooltip'
import { visible } from '../data/text.js'
import { badgeOf, type ShownItem } from './columns.js'

/** `001 • Authentication Rules [Always]`, or `filesystem. • read_file [Manual]` for a tool. */
export function ItemRow({ item }: { item: ShownItem }) {
  const { type, name, serverName, includeMode, details } = item
  const description = details?.description ?? null
  const level = details?.priorityLevel ?? null
  const shown = <bdi>{visible(name)}</bdi>
  return (
    <li className="item">
      <p>
        {type === 'tool' ? <span className="quiet server">{visible(serverName ?? '')}.</span> : null}
        {type !== 'tool' && level !== null ? <span className="quiet">{String(level).padStart(3, '0')}</span> : null}
        {type === 'tool' || level !== null ? <span aria-hidden="true"> • </span> : null}
        {description === null ? (
          <strong>{shown}</strong>
        ) : (
          <Tooltip.Root>
            <Tooltip.Trigger className="item-name">{shown}</Tooltip.Trigger>
            <Tooltip.Portal>
              <Tooltip.Positioner sideOffset={6}>
                <Tooltip.Popup className="tooltip">{visible(description)}</Tooltip.Popup>
              </Tooltip.Positioner>
            </Tooltip.Portal>
          </Tooltip.Root>
        )}{' '}
        <span className="badge" data-mode={includeMode}>
          {badgeOf(item)}
        </span>
      </p>
      {description === null ? null : <p className="quiet">{visible(description)}</p>}
    </li>
  )
}
