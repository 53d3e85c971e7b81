/** What is to be removed, however the run ends: the latest first. */
const opened: (() => Promise<void>)[] = []

let closing: Promise<void> | undefined

/** Notes what `closeAll` has to remove, of a command that starts servers and processes of its own. */
export function closeLater(close: () => Promise<void>): void {
  opened.push(close)
}

/** Both the end of a measurement and a signal may ask for it: the second waits for the first. */
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
