import type { Client } from '@heddle/client/interface'
import { type AccessRole, type AgentBody, HeddleError, PermanentError } from '@heddle/contracts'

type Agents = Pick<Client['agents'], 'put' | 'get'>
type Agent = Awaited<ReturnType<Agents['put']>>

/**
 * Creates an agent for a caller with the permission to produce but not to configure. An append creates agents too; this
 * call can also set the rolling window, without which old messages would be appended and never shown.
 *
 * @throws PermanentError `FORBIDDEN` for other settings, and if the agent exists with another version or settings
 */
export async function makeNewAgent(
  agents: Agents,
  name: string,
  { body, role }: { readonly body: AgentBody; readonly role: AccessRole },
): Promise<Agent> {
  const { settings = {}, ifVersion: _, ...others } = body
  const { rollingWindow, ...otherSettings } = settings
  const foreign = [...keysOf(others), ...keysOf(otherSettings).map((key) => `settings.${key}`)][0]
  if (foreign !== undefined) throw refused(role, foreign, 'when it creates one, it may set settings.rollingWindow only')
  const created = rollingWindow === undefined ? {} : { rollingWindow }
  try {
    return await agents.put(name, { settings: created, ifVersion: 0 })
  } catch (error) {
    if (!(error instanceof HeddleError) || error.field !== 'ifVersion') throw error
    const agent = await agents.get(name)
    // A retry whose first answer may have been lost: the answer contains only data from the request itself.
    if (isAsMade(agent, created)) return agent
    throw refused(role, 'agent', `agent "${name}" exists already`)
  }
}

function keysOf(given: object): string[] {
  return Object.entries(given).flatMap(([key, value]) => (value === undefined ? [] : [key]))
}

function isAsMade({ version, systemPrompt, docs, settings }: Agent, created: Agent['settings']): boolean {
  const isBare = version === 1 && systemPrompt === '' && docs.length === 0
  return (
    isBare && keysOf(settings).join() === keysOf(created).join() && settings.rollingWindow === created.rollingWindow
  )
}

function refused(role: AccessRole, field: string, why: string): PermanentError {
  return new PermanentError('FORBIDDEN', `a key of the role ${role} may not change agents: ${why}`, {
    field,
    received: role,
    hint: 'It needs the permission admin; an admin creates such a key with: heddle keys create',
  })
}
