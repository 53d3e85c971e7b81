/**
 * The named limits on Heddle's input (docs/design.md#invariant-10). A value beyond one is refused with a typed error
 * that names it; nothing is cut silently.
 */
export const limits = {
  /** One message's text: about a million tokens, more than any model's window. */
  messageCharactersMax: 4_000_000,
  /** Messages in one ingest job; the SDK splits longer appends. */
  messagesPerJobMax: 500,
  /** Characters of all messages in one ingest job; the SDK splits larger appends. */
  charactersPerJobMax: 8_000_000,
  /** Levels of objects and arrays in a JSON value, such as a call's arguments: far more than tools use. */
  jsonDepthMax: 128,
  /** Characters of one job as JSON: the longest texts with every character escaped, plus the other fields. */
  jobJsonCharactersMax: 64_000_000,
  /**
   * Characters of one message as JSON, its metadata and usage included, so that it fits into a job with its other
   * fields.
   */
  messageJsonCharactersMax: 63_900_000,
  toolCallsMax: 256,
  /** One image, document or audio: at least what providers accept per file. */
  partBytesMax: 20 * 1024 * 1024,
  /** Images, documents and sounds of one message: as many as providers accept in one request. */
  partsPerMessageMax: 100,
  /** The bytes of all of them: as base64 they fit into a job and a request. */
  messagePartBytesMax: 32 * 1024 * 1024,
  /** Bytes of the images, documents and sounds of one context: as base64 they fit into one request to any provider. */
  contextPartBytesMax: 22 * 1024 * 1024,
  /** Images, documents and sounds of one context: as many as Anthropic accepts in one request. */
  contextPartsMax: 100,
  /** A URL of an image or a document. */
  partUrlCharactersMax: 8_000,
  /** A name of an agent, a thread, a project or an item. */
  nameCharactersMax: 200,
  /** A system prompt, a doc, a rule or a reference. */
  documentCharactersMax: 1_000_000,
  /** A description of an item: a line for people, a page for a model that chooses a tool. */
  itemDescriptionCharactersMax: 100_000,
  /** Items of one agent, including removed ones: each is considered for every context. */
  itemsPerAgentMax: 5_000,
  /** Additions and removals of items in one thread: all are read for each of its contexts. */
  threadItemChangesMax: 20_000,
  /** The name of a memory block. */
  blockLabelCharactersMax: 64,
  /** The value of a memory block: about 5,000 tokens, which every context shows. */
  blockCharactersMax: 20_000,
  blockDescriptionCharactersMax: 1_000,
  /** Memory blocks of one owner, including removed ones: all are read for each of its contexts. */
  blocksPerOwnerMax: 50,
  /** Agents that one block is shared with, and blocks that are shared with one agent; revoked grants included. */
  blockGrantsMax: 100,
  /**
   * The latest changes of a grant that are kept, since each context reads them. To a thread that was compacted before them, the
   * block is as if it was shared since.
   */
  blockGrantVersionsMax: 20,
  /** Tools that one MCP server may list. */
  toolsPerServerMax: 2_000,
  /** A thread's title. */
  titleCharactersMax: 500,
  /** The status of a thread or a process. */
  statusCharactersMax: 1_000,
  /** The environment of a thread's run, names and values together. */
  environmentCharactersMax: 100_000,
  /** Progress markers, file changes or file events of one iteration. */
  iterationListItemsMax: 10_000,
  /** Iteration numbers end well below the largest integer of the store. */
  iterationNumberMax: 1_000_000_000,
  /** Token budget of a request; larger than any model's window. */
  budgetTokensMax: 20_000_000,
  /** A reference; longer than any reference of valid names. */
  referenceCharactersMax: 4_000,
  /** A range of lines such as `10-50`. */
  lineRangeCharactersMax: 40,
  /** One text in an exported thread: a message's content, escaped if necessary, or a message's calls as JSON. */
  recordCharactersMax: 32_000_000,
  exportLineBytesMax: 256 * 1024 * 1024,
  /** A file or a folder in a filter of archive entries. */
  pathCharactersMax: 4_000,
  /** A text searched for within a content. */
  searchCharactersMax: 1_000,
  /** Characters of one recall: any text of a message. Larger contents, such as tool calls, are returned in pieces. */
  recallCharactersMax: 4_000_000,
  /** Earlier messages that one context recalls. */
  memoriesMax: 50,
  /** Threads whose messages one context shows. */
  scopeThreadsMax: 20,
  /** Messages of several threads in one context: a briefing of many thousand tokens is chosen from them. */
  multiThreadMessagesMax: 5_000,
  /** Messages of one thread whose pruning is undone: each is read for every context. */
  undoneMessagesMax: 5_000,
  /** Messages of one erasure: their rows are replaced in one transaction. */
  erasedMessagesMax: 10_000,
  /** Pins of a thread that were set on stored messages: each costs tokens in every context. */
  pinsPerThreadMax: 1_000,
  /**
   * Budgets, models and strategies of requests, besides the agent's own, for which one thread is compacted in the
   * background: each costs compactions and summaries as the agent's own.
   */
  keptLanesPerThreadMax: 4,
  /** A cursor: a name with three bytes per character, in base64, and the name of its list. */
  cursorCharactersMax: 1_000,
  /** Entries of one page of a list. */
  pageItemsMax: 500,
  /** Messages of one audit: a second of work, and copies are found among these. */
  auditedMessagesMax: 2_000,
  /** An object or a statement of a fact: a sentence, not a page. */
  factCharactersMax: 500,
  /** A subject or a predicate of a fact: both are in an index, whose entries have less than 2,700 bytes. */
  factNameCharactersMax: 200,
  factSourcesMax: 50,
  factsPerPageMax: 100,
  /** Facts of one context. */
  factsShownMax: 200,
  /** Messages from which one request reads facts: a second of work. */
  factMessagesMax: 1_000,
  /** Facts that a question is compared with, those recorded last: a fraction of a second. */
  factsRankedMax: 2_000,
  /** Facts of one subject and predicate that are compared with each other, those recorded last. */
  factsPerKeyMax: 300,
  /** Messages or iterations in one request over HTTP; further ones go into another request. */
  httpListItemsMax: 5_000,
  /** One HTTP request body with texts: the largest message with every character escaped. */
  httpBodyBytesMax: 64 * 1024 * 1024,
  /** One HTTP request body without long texts. */
  httpSmallBodyBytesMax: 256 * 1024,
  snapshotDescriptionCharactersMax: 1_000,
  /** A snapshot as JSON: some ten million tokens. Larger windows are refused, so that they do not block the process. */
  snapshotCharactersMax: 64_000_000,
  /** A request within the job for its context, as JSON; a larger one is stored first. */
  requestInJobCharactersMax: 64_000,
  /**
   * An answer within a reply, in bytes: a context of about 40,000 tokens, compressed 160,000. A larger one is read from
   * the store.
   */
  answerBytesMax: 240_000,
  /** How long a caller may wait for one reply, in milliseconds. */
  waitMsMax: 600_000,
} as const
