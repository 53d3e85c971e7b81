/**
 * The named bounds of what is taken from an MCP server, which is a program of somebody else: it may list anything, for as
 * long as it likes.
 */
export const toolListLimits = {
  /** Pages of one list: a server that gives one tool a page still comes to an end. */
  pagesMax: 2_000,
  /** One answer, or one line of a process: several times the largest list that is known. */
  answerBytesMax: 10 * 1024 * 1024,
  /** A description is cut there, with a note: about 2,500 tokens, and it may be in every context of an agent. */
  descriptionCharactersMax: 10_000,
  /** The input schema of one tool as JSON. A schema that is cut is none, so a larger one is refused. */
  schemaCharactersMax: 100_000,
  /** Descriptions and schemas of all tools of a server: they are stored in one transaction. */
  listCharactersMax: 10_000_000,
} as const
