/**
 * The recordings have neither system prompts nor tools, which are a large and fixed part of each request. This is generated text of
 * about their size: sentences without a meaning, the same ones in every run.
 */
const WORDS = (
  'agent answer argument before branch build change check code command commit content current default directory edit error ' +
  'exact example exit file find first follow format function given header ignore input instead keep large later line list long ' +
  'match message method missing module name never number only option order output package path pattern plan process project ' +
  'prompt question range read reason report request result return rule run same search section session shell short single ' +
  'start status step string task test text time tool type unless update user valid value verify version warning when write'
).split(' ')

/** About this many tokens, as sentences of eight to fifteen words. */
export function fillerText(seed: number, tokens: number): string {
  let state = seed + 1
  const next = (bound: number) => {
    state = (state * 48_271) % 2_147_483_647
    return state % bound
  }
  const sentences: string[] = []
  for (let words = 0; words < tokens; ) {
    const length = Math.min(8 + next(8), Math.max(1, tokens - words))
    const sentence = Array.from({ length }, () => WORDS[next(WORDS.length)]).join(' ')
    sentences.push(`${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`)
    // The full stop is a token, too.
    words += length + 1
  }
  return sentences.join(' ')
}

/** The text of a system prompt of a coding agent. */
export const CODING_SYSTEM_TOKENS = 3_500
/** Descriptions and parameters of one tool; with about 20 tools and the system prompt 15,000 tokens are sent in each request. */
const TOOL_TOKENS = 480
const PARAMETER_TOKENS = 20

/** The names of usual tools of a coding agent, besides those that a session uses. */
export const CODING_TOOLS = [
  ...[
    'Task',
    'Bash',
    'Glob',
    'Grep',
    'LS',
    'Read',
    'Edit',
    'MultiEdit',
    'Write',
    'NotebookRead',
    'NotebookEdit',
    'WebFetch',
  ],
  ...[
    'TodoRead',
    'TodoWrite',
    'WebSearch',
    'BashOutput',
    'KillShell',
    'ExitPlanMode',
    'SlashCommand',
    'AskUserQuestion',
  ],
]

interface FillerTool {
  readonly name: string
  readonly description: string
  readonly parameters: object
}

/** @param size share of the size of a coding agent's tools */
export function fillerTools(names: readonly string[], size = 1): FillerTool[] {
  return names.map((name, index) => {
    const parameter = (seed: number) => ({ type: 'string', description: fillerText(seed, PARAMETER_TOKENS * size) })
    const properties = { first: parameter(100 + index), second: parameter(200 + index) }
    return {
      name,
      description: fillerText(index, TOOL_TOKENS * size),
      parameters: { type: 'object', properties, required: ['first'], additionalProperties: true },
    }
  })
}
