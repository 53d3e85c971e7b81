import { spawn } from 'node:child_process'
import { findUp } from '@heddle/client/connect'
import { RetryableError } from '@heddle/contracts'
import type { Command } from 'commander'
import { type CommandContext, type CommonOptions, configOf } from '../../connect/context.js'
import { gatewayOf } from '../../connect/gateway-address.js'
import { type UrlOptions, withUrlOption } from '../../connect/with-remote.js'
import { withCommonOptions } from '../../options/options.js'

interface OpenOptions extends CommonOptions, UrlOptions {
  readonly browser: boolean
}

export function registerOpen(program: Command, context: CommandContext): void {
  const open = program
    .command('open')
    .description('open the inspector of the running gateway in the browser')
    .option('--no-browser', 'only print the address')
  withCommonOptions(withUrlOption(open), [
    'heddle open',
    'heddle open --no-browser',
    'heddle open --url https://heddle.example',
  ]).action((options: OpenOptions) => openInspector(context, options))
}

async function openInspector(context: CommandContext, options: OpenOptions): Promise<void> {
  const gateway = gatewayOf(context, options) ?? (await gatewayHere(context, options))
  const address = `${gateway}${gateway.endsWith('/') ? '' : '/'}ui/`
  const isOpened = options.browser && (await isStarted(address))
  context.printer.result({ address, isOpened }, () => [address])
}

/** @throws RetryableError `SERVICE_UNAVAILABLE` if none runs for the data folder */
async function gatewayHere(context: CommandContext, options: OpenOptions): Promise<string> {
  const { dataDir, mode, port } = configOf(context, options, {})
  // Only embedded servers announce their port in the folder.
  if (mode !== 'embedded') return `http://127.0.0.1:${port}`
  const running = await findUp(dataDir)
  if (running !== null) return `http://127.0.0.1:${running.port}`
  throw new RetryableError('SERVICE_UNAVAILABLE', 'no gateway runs for this folder', {
    field: 'data',
    received: dataDir,
    hint: 'Start one: heddle up; or name one with --url.',
  })
}

const openers: Readonly<Record<string, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

/** Whether the program that opens addresses could be started; a machine without a screen has none. */
function isStarted(address: string): Promise<boolean> {
  const [program, ...parameters] = openers[process.platform] ?? ['xdg-open']
  return new Promise((resolve) => {
    const child = spawn(program, [...parameters, address], { detached: true, stdio: 'ignore' })
    child.once('error', () => resolve(false))
    child.once('spawn', () => {
      child.unref()
      resolve(true)
    })
  })
}
