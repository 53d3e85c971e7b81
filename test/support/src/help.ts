/** An option of `parseArgs` with its description. */
export interface DescribedOption {
  readonly type: 'boolean' | 'string'
  readonly multiple?: boolean
  readonly short?: string
  readonly default?: string | boolean
  /** Placeholder of its value, such as `NAME`. */
  readonly value?: string
  readonly says: string
}

/** The option that each of these commands has. */
export const helpOption = { type: 'boolean', short: 'h', default: false, says: 'prints this help' } as const

/** The options of a command that measures figures, which select them for `isWanted`. */
export const figureOptions = {
  help: helpOption,
  list: { type: 'boolean', default: false, says: 'prints the names of the figures and measures nothing' },
  only: {
    type: 'string',
    multiple: true,
    value: 'NAME',
    says: 'only this figure, or figures with it and a dot as a prefix; can be repeated',
  },
} as const

export interface Help {
  /** As people type it, such as `npm run chaos`. */
  readonly command: string
  readonly does: string
  readonly options: Readonly<Record<string, DescribedOption>>
  /** Its duration, with the factors. */
  readonly takes: string
  readonly exits: string
}

/** The `--help` of a command that takes minutes: its purpose, options, duration and exit codes. */
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
