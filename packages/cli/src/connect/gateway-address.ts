import { UsageError } from '../output/failure.js'
import type { CommandContext } from './context.js'

/** The gateway of the command line or of HEDDLE_URL; null without either. */
export function gatewayOf(
  { env }: Pick<CommandContext, 'env'>,
  { url = env['HEDDLE_URL'] }: { readonly url?: string } = {},
): string | null {
  return url === undefined || url.trim() === '' ? null : url.trim()
}

/**
 * Refuses a command that needs a store or a server on this machine while a gateway is named: running it here would change
 * other data than the user meant.
 *
 * @param what names the command, as the subject of a sentence
 * @throws UsageError
 */
export function refuseRemote(
  context: Pick<CommandContext, 'env'>,
  options: { readonly url?: string },
  what: string,
): void {
  const url = gatewayOf(context, options)
  if (url === null) return
  const hint = 'Run this where the store can be reached, without --url and with HEDDLE_URL unset.'
  throw new UsageError('url', `${what} is not available over HTTP`, url, hint)
}
