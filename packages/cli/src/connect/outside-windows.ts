import { mergeSettings } from '@heddle/contracts'
import type { Engine } from '@heddle/host'
import { type AgentOutsideWindow, findOutsideWindows } from '@heddle/store'
import { safeText } from '../output/safe-text.js'
import { formatCount } from '../output/table.js'

const AGENTS_SHOWN_MAX = 3

/** Agents whose windows hide all messages of some threads. An error here must not fail the start. */
export async function outsideWindowsOf({ store, projectId, config }: Engine): Promise<readonly AgentOutsideWindow[]> {
  const { rollingWindow } = mergeSettings(config.settings)
  try {
    return await store.inProject(projectId, (tx) => findOutsideWindows(tx, { nowMs: Date.now(), rollingWindow }))
  } catch {
    return []
  }
}

/** Lines of the banner; empty if every thread has messages in its window. */
export function outsideWindowLines(agents: readonly AgentOutsideWindow[]): string[] {
  if (agents.length === 0) return []
  const lines = agents
    .slice(0, AGENTS_SHOWN_MAX)
    .map(
      ({ agent, threads, outside }, index) =>
        `${index === 0 ? '  windows   ' : '            '} agent ${safeText(agent)}: contexts of ${formatCount(outside)} of its ${formatCount(threads)} threads show no messages, because all are older than the rolling window`,
    )
  const more = agents.length - AGENTS_SHOWN_MAX
  return [
    ...lines,
    ...(more > 0 ? [`             and ${formatCount(more)} more agents`] : []),
    '             to show all ages: heddle settings set rollingWindow none --agent NAME',
  ]
}
