import type { Agent, PartialSettings } from '@heddle/contracts'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { client } from '../data/client.js'
import { Failure } from '../parts/failure.js'

/**
 * Changes the agent's own settings as JSON. The change names the version that was shown: if another change came first, it is
 * refused, and nothing is overwritten.
 */
export function SettingsForm({ agent: { name, version, settings } }: { agent: Agent }) {
  const id = useId()
  const queries = useQueryClient()
  const [text, setText] = useState(JSON.stringify(settings, null, 2))
  const save = useMutation({
    mutationFn: async () => await client.agents.put(name, { settings: parsed(text), ifVersion: version }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['agent', name] })
      await queries.invalidateQueries({ queryKey: ['agent-settings', name] })
    },
  })
  return (
    <form
      className="part"
      aria-label="Settings of the agent"
      onSubmit={(event) => {
        event.preventDefault()
        save.mutate()
      }}
    >
      <label htmlFor={id}>
        Settings of the agent itself, version {version}, as JSON. What it does not set comes from the configuration of
        the deployment, or is the default.
      </label>
      <textarea
        id={id}
        rows={Math.min(20, text.split('\n').length + 1)}
        spellCheck={false}
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <p className="bar">
        <button type="submit" disabled={save.isPending}>
          Save as a new version
        </button>
        <span role="status">{save.isPending ? 'Saving …' : ''}</span>
      </p>
      {save.error ? <Failure error={save.error} /> : null}
    </form>
  )
}

/** The gateway checks the rest: it knows every setting and its range. */
function parsed(text: string): PartialSettings {
  try {
    return JSON.parse(text) as PartialSettings
  } catch (error) {
    throw new Error(`This is not JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
}
