import type { QueueWarning } from '../base/backend.js'

const NEARLY_FULL = 0.9

/**
 * Problems in the settings of a Redis that holds jobs.
 *
 * @param field reads a field of Redis's answer to `INFO`
 */
export function warningsOf(field: (name: string) => string | undefined): QueueWarning[] {
  const warnings: QueueWarning[] = []
  const policy = field('maxmemory_policy')
  if (policy !== undefined && policy !== 'noeviction') {
    warnings.push({
      what: `Redis evicts keys when its memory is full (maxmemory-policy is ${policy}), and jobs are keys`,
      hint: 'Set maxmemory-policy to noeviction: redis-cli config set maxmemory-policy noeviction, and the same in its configuration file.',
    })
  }
  const [used, max] = [Number(field('used_memory')), Number(field('maxmemory'))]
  if (max > 0 && used > max * NEARLY_FULL) {
    warnings.push({
      what: `Redis is nearly full: ${Math.round((used / max) * 100)} % of its maxmemory (${used} of ${max} bytes)`,
      hint: 'Raise maxmemory, or move other programs to another Redis: at 100 % appends are refused and workers wait.',
    })
  }
  // Hosted servers may leave the field out.
  if (field('aof_enabled') === '0') {
    warnings.push({
      what: 'Redis keeps no log of its writes (appendonly is no): when it stops, it loses appends that were acknowledged as "queued" and that no worker had stored',
      hint: 'Set appendonly to yes: redis-cli config set appendonly yes, and the same in its configuration file; or let producers wait for "stored", the default.',
    })
  }
  return warnings
}
