const MESSAGE_CHARACTERS = 250

const WORDS =
  `the agent reads a file and finds that the queue was empty when the worker began so it waits for the next job
  before it writes the answer to the table we decided to keep one index for each thread because the planner chooses it
  function return value error timeout retry connection session budget summary token message context state cursor
  config server client request response deploy release branch commit test failure log metric trace password session
  parser schema column migration vector embedding search result path import export module package version`
    .split(/\s+/)
    .filter((word) => word !== '')

/** Text like that of a conversation, the same for the same number, of about `characters`. */
export function textOf(number: number, characters = MESSAGE_CHARACTERS): string {
  let state = (number * 2_654_435_761 + 1) >>> 0
  let text = `${number}`
  while (text.length < characters) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    // Sometimes a name or a number, as in messages of agents: a token is then four characters on average.
    text += state >>> 29 === 0 ? ` ${(state >>> 4).toString(36)}()` : ` ${WORDS[(state >>> 8) % WORDS.length]}`
  }
  return text
}
