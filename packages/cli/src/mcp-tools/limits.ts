/**
 * Limits on the data accepted from an MCP server. Such a server is a third-party program: it may list anything, for any length
 * of time.
 */
export const toolListLimits = {
  /** Pages of one list; enough for a server with one tool per page. */
  pagesMax: 2_000,
  /** One response, or one line of a process: several times the largest list known. */
  answerBytesMax: 10 * 1024 * 1024,
  /** Longer descriptions are cut, with a note: this is about 2,500 tokens, possibly in every context of an agent. */
  descriptionCharactersMax: 10_000,
  /** The input schema of one tool as JSON. A cut schema would be invalid, so larger ones are refused. */
  schemaCharactersMax: 100_000,
  /** Descriptions and schemas of all tools of a server: they are stored in one transaction. */
  listCharactersMax: 10_000_000,
} as const
