import type { Agent, SettingOrigin } from '@heddle/contracts'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { agentSettingsQuery } from '../data/agents.js'
import { useMay } from '../data/permissions.js'
import { visible } from '../data/text.js'
import { Failure } from '../parts/failure.js'
import { Loading } from '../parts/loading.js'
import { WideTable } from '../parts/wide-table.js'
import { SettingsForm } from './settings-form.js'

/** The settings in force, with who sets each, and a form for those of the agent. */
export function Configuration({ agent }: { agent: Agent }) {
  const mayAdminister = useMay('admin')
  const [isOnlySet, setOnlySet] = useState(false)
  const { data, error, isPending } = useQuery(agentSettingsQuery(agent.name))
  const shown = data?.items.filter(({ from }) => !isOnlySet || from !== null) ?? []
  return (
    <>
      {mayAdminister ? <SettingsForm key={agent.version} agent={agent} /> : null}
      <h2>In force</h2>
      <label className="bar">
        <input type="checkbox" checked={isOnlySet} onChange={({ target }) => setOnlySet(target.checked)} />
        Only what differs from the defaults
      </label>
      {isPending ? <Loading what="the settings" /> : null}
      {error ? <Failure error={error} /> : null}
      {data !== undefined && shown.length === 0 ? (
        <p className="quiet">All settings of this agent are the defaults.</p>
      ) : null}
      {shown.length > 0 ? <SettingTable settings={shown} /> : null}
    </>
  )
}

function SettingTable({ settings }: { settings: readonly SettingOrigin[] }) {
  return (
    <WideTable name="Settings in force" columns={['Setting', 'Value', 'Set by', 'Default']}>
      {settings.map(({ name, value, from, default: usual }) => (
        <tr key={name}>
          <th scope="row">{name}</th>
          <td>
            <code>{visible(valueText(value))}</code>
          </td>
          <td>{from === null ? <span className="quiet">default</span> : <span className="mark">{from}</span>}</td>
          <td className="quiet">{from === null ? '' : <code>{visible(valueText(usual))}</code>}</td>
        </tr>
      ))}
    </WideTable>
  )
}

const valueText = (value: unknown) => (typeof value === 'string' ? value : (JSON.stringify(value) ?? 'none'))
