import type { ContextRequest } from '@heddle/contracts'
import type { HiddenMessages } from '@heddle/core'
import type { Compaction, WindowCounts } from '@heddle/store'

/** Messages hidden by the window of a thread, for the receipt. */
export function hiddenOf(
  { thread, settings }: Compaction,
  request: ContextRequest,
  { outsideWindow, beforeClear, imported }: WindowCounts,
): HiddenMessages {
  const { rollingWindow } = settings
  const ofThread = thread.settings.rollingWindow === undefined ? 'agent' : 'thread'
  return {
    thread: thread.name,
    agent: thread.agentName,
    outsideWindow,
    beforeClear,
    imported,
    rollingWindow,
    windowOf: request.rollingWindow === undefined ? ofThread : 'request',
  }
}
