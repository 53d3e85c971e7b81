import type { AppendIterationsResult } from '@heddle/contracts'
import { newId } from '../calls/ids.js'
import type { AppendIterationsOptions } from '../interface/iterations.js'
import type { CallOperation } from './call.js'
import { DEADLINE_MS_DEFAULT, preferWait } from './transport.js'

/** Appends iterations, exactly once: each gets its id here, so that a request whose answer was lost can be repeated. */
export async function appendIterationsOverHttp(
  call: CallOperation,
  { agent, thread, ack = 'stored', deadlineMs = DEADLINE_MS_DEFAULT, signal, ...options }: AppendIterationsOptions,
): Promise<AppendIterationsResult> {
  const { onBusy = ack === 'stored' ? 'wait' : 'fail' } = options
  const iterations = options.iterations.map(({ id = newId(), ...iteration }) => ({ id, ...iteration }))
  const { body } = await call('appendIterations', {
    params: { thread },
    body: { agent, ack, iterations },
    idempotencyKey: null,
    deadlineMs,
    prefer: preferWait,
    signal,
    retry: onBusy === 'wait' ? 'again' : 'never',
  })
  return body
}
