import type { Command } from 'commander'
import { hostOption, portOption } from './options.js'

/** The address that a server of HTTP listens on. */
export interface AddressOptions {
  readonly port?: number
  readonly host?: string
}

export function withAddressOptions(command: Command): Command {
  return command
    .option('--port <port>', 'HTTP port; 0 picks a free one (default 4680, or HEDDLE_PORT)', portOption)
    .option(
      '--host <address>',
      'address to listen on (default 127.0.0.1, or HEDDLE_HOST); others require an API key',
      hostOption,
    )
}

/** The settings of the configuration that the options replace. */
export function addressOf({ port, host }: AddressOptions): AddressOptions {
  return { ...(port !== undefined && { port }), ...(host !== undefined && { host }) }
}
