/** Resources to remove, however the run ends: the latest first. */
const opened: (() => Promise<void>)[] = []

let closing: Promise<void> | undefined

/** Registers a resource for `closeAll`, in a command that starts its own servers and processes. */
export function closeLater(close: () => Promise<void>): void {
  opened.push(close)
}

/** The end of a measurement and a signal can both call it: the second call waits for the first. */
export function closeAll(): Promise<void> {
  closing ??= closeOpened().finally(() => {
    closing = undefined
  })
  return closing
}

async function closeOpened(): Promise<void> {
  const failures: unknown[] = []
  for (let close = opened.pop(); close !== undefined; close = opened.pop()) {
    await close().catch((error: unknown) => failures.push(error))
  }
  if (failures.length > 0) throw new AggregateError(failures, 'not everything was removed')
}
