import { parseArgs } from 'node:util'
import { type Help, helpOption, helpText } from '@heddle/test-support/help'

const SECONDS_MAX = 3_600

const options = {
  help: helpOption,
  list: { type: 'boolean', default: false, says: 'prints the names of the outages and stops nothing' },
  only: {
    type: 'string',
    multiple: true,
    value: 'NAME',
    says: 'only this outage, or outages with it and a dot as a prefix; can be repeated',
  },
  seconds: { type: 'string', default: '3,20,60', value: 'N,N', says: 'durations of the outages (3,20,60)' },
} as const

export const help = helpText({
  command: 'npm run outages',
  does: `Stops Redis or Postgres under running workers for some seconds, and measures the time from its return until messages are
stored, and whether /readyz and heddle doctor name it. One line of JSON for each outage. It starts its own servers.`,
  options,
  takes: 'three cases of each length, so at least 4.5 minutes for 3, 20 and 60 seconds; --seconds 3 about one minute.',
  exits: '0 when all pass, 1 when one does not, 2 for wrong arguments',
} satisfies Help)

/** @throws Error that names the invalid argument */
export function readArguments(given: readonly string[]) {
  const { values } = parseArgs({ args: [...given], options })
  const seconds = values.seconds.split(',').map(Number)
  if (!seconds.every((each) => Number.isInteger(each) && each >= 1 && each <= SECONDS_MAX)) {
    throw new Error(`--seconds must be whole numbers from 1 to ${SECONDS_MAX}, such as 3,20,60`)
  }
  return { help: values.help, only: values.only ?? null, list: values.list, seconds }
}
