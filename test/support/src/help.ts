/** An option as `parseArgs` takes it, and what it is for. */
export interface DescribedOption {
  readonly type: 'boolean' | 'string'
  readonly multiple?: boolean
  readonly short?: string
  readonly default?: string | boolean
  /** What stands for its value, such as `NAME`. */
  readonly value?: string
  readonly says: string
}

/** The option that each of these commands has. */
export const helpOption = { type: 'boolean', short: 'h', default: false, says: 'shows this' } as const

/** The options of a command that measures figures: which of them, for `isWanted`. */
export const figureOptions = {
  help: helpOption,
  list: { type: 'boolean', default: false, says: 'shows the names of the figures and measures nothing' },
  only: {
    type: 'string',
    multiple: true,
    value: 'NAME',
    says: 'only this figure, or those that begin with it and a dot; any number of times',
  },
} as const

export interface Help {
  /** As people type it, such as `npm run chaos`. */
  readonly command: string
  readonly does: string
  readonly options: Readonly<Record<string, DescribedOption>>
  /** How long it takes, and what that depends on. */
  readonly takes: string
  readonly exits: string
}

/** What a command that takes minutes says with `--help`: who starts one should know what it does, and for how long. */
export function helpText({ command, does, options, takes, exits }: Help): string {
  const flags = Object.entries(options).map(([name, { short, value, says }]) => ({
    flag: `${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`,
    says,
  }))
  const width = Math.max(...flags.map(({ flag }) => flag.length))
  return [
    `${command} -- [options]`,
    '',
    does,
    '',
    ...flags.map(({ flag, says }) => `  ${flag.padEnd(width)}  ${says}`),
    '',
    `Takes: ${takes}`,
    `Exits: ${exits}`,
    '',
  ].join('\n')
}
