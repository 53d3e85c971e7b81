import type { Command } from 'commander'
import type { CommandContext, CommonOptions } from '../../connect/context.js'
import { refuseRemote } from '../../connect/gateway-address.js'
import type { Check } from '../../doctor/check.js'
import { examine } from '../../doctor/examine.js'
import { withCommonOptions } from '../../options/options.js'
import { exitCodes } from '../../output/failure.js'
import { safeText } from '../../output/safe-text.js'

export function registerDoctor(program: Command, context: CommandContext): void {
  const doctor = program
    .command('doctor')
    .description('check the configuration, the store, the queues and the models, and show how to fix problems')
  withCommonOptions(doctor, ['heddle doctor', 'heddle doctor --json'])
    .addHelpText('after', '\nExits with 1 when a check fails; warnings alone exit with 0.')
    .action((options: CommonOptions) => runDoctor(context, options))
}

async function runDoctor(context: CommandContext, options: CommonOptions): Promise<void> {
  refuseRemote(context, {}, 'a check of the servers (GET /readyz reports the state of a gateway)')
  const checks = await examine(context, options)
  const failed = checks.filter(({ status }) => status === 'fail').length
  const warned = checks.filter(({ status }) => status === 'warn').length
  if (failed > 0) context.setExitCode(exitCodes.error)
  const { colors } = context.printer
  const mark: Record<Check['status'], string> = {
    ok: colors.green('ok  '),
    warn: colors.yellow('warn'),
    fail: colors.red('fail'),
    skip: colors.dim('skip'),
  }
  context.printer.result({ ok: failed === 0, failed, warned, checks }, () => [
    ...checks.flatMap((check) => [
      `${mark[check.status]}  ${check.name}: ${safeText(check.detail)}`,
      ...(check.hint === undefined ? [] : [`      do: ${safeText(check.hint)}`]),
    ]),
    '',
    failed === 0 ? `all well${warned === 0 ? '' : `, ${warned} to look at`}` : `${failed} failed, ${warned} to look at`,
  ])
}
