/**
 * The named bounds of what Heddle takes in (docs/design.md#invariant-10). A value beyond one is refused with a typed error that
 * names it; nothing is cut silently.
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
  /** Characters of one job as JSON: the longest texts with every character escaped, and what comes beside them. */
  jobJsonCharactersMax: 64_000_000,
  /** Characters of one message as JSON, its metadata and usage included: what fits into a job with what names it. */
  messageJsonCharactersMax: 63_900_000,
  /** Tool calls in one message. */
  toolCallsMax: 256,
  /** One image, document or sound: what providers take of one file, or more. */
  partBytesMax: 20 * 1024 * 1024,
  /** Images, documents and sounds of one message: as many as providers take in one request. */
  partsPerMessageMax: 100,
  /** The bytes of all of them: as base64 they fit into a job and a request. */
  messagePartBytesMax: 32 * 1024 * 1024,
  /** Bytes of the images, documents and sounds of one context: as base64 they fit into one request to any provider. */
  contextPartBytesMax: 22 * 1024 * 1024,
  /** Images, documents and sounds of one context: as many as Anthropic takes in one request. */
  contextPartsMax: 100,
  /** An address of an image or a document. */
  partUrlCharactersMax: 8_000,
  /** A name of an agent, a thread, a project or an item. */
  nameCharactersMax: 200,
  /** A system prompt, a doc, a rule or a reference. */
  documentCharactersMax: 1_000_000,
  /** A description of an item: a line for people, a page for a model that is to choose a tool. */
  itemDescriptionCharactersMax: 100_000,
  /** Items of one agent, those that were taken away included: each is looked at for every context. */
  itemsPerAgentMax: 5_000,
  /** Times that items were added to one thread or removed from it: all are read for each of its contexts. */
  threadItemChangesMax: 20_000,
  /** Tools that one MCP server may list. */
  toolsPerServerMax: 2_000,
  /** What a thread is called by people. */
  titleCharactersMax: 500,
  /** What a thread is to reach: about the 1,000 tokens that a prompt gives a goal. */
  goalCharactersMax: 4_000,
  /** How a thread or one of its processes stands. */
  statusCharactersMax: 1_000,
  /** The environment in which a thread's loop runs, names and values together. */
  environmentCharactersMax: 100_000,
  /** Iterations in one transaction; the SDK splits longer appends. */
  iterationsPerAppendMax: 100,
  /** Progress markers, file changes or file events of one iteration. */
  iterationListItemsMax: 10_000,
  /** Numbers of iterations end well below what the store can count. */
  iterationNumberMax: 1_000_000_000,
  /** Tokens that a caller may ask for; larger than any model's window. */
  budgetTokensMax: 20_000_000,
  /** A reference; longer than any whose names are within their bounds. */
  referenceCharactersMax: 4_000,
  /** A range of lines such as `10-50`. */
  lineRangeCharactersMax: 40,
  /** One text in an exported thread: a message's content, escaped where that is needed, or a message's calls as JSON. */
  recordCharactersMax: 32_000_000,
  /** One line of an exported thread. */
  exportLineBytesMax: 256 * 1024 * 1024,
  /** A file or a folder that archive entries are chosen by. */
  pathCharactersMax: 4_000,
  /** A text that is searched for within a content. */
  searchCharactersMax: 1_000,
  /** Characters of one recall: any text of a message. What is larger, such as a call of a tool, comes in pieces. */
  recallCharactersMax: 4_000_000,
  /** Earlier messages that one context recalls. */
  memoriesMax: 50,
  /** Threads whose messages one context shows. */
  scopeThreadsMax: 20,
  /** Messages of several threads that one context is made of: what a briefing of many thousand tokens is chosen from. */
  multiThreadMessagesMax: 5_000,
  /** Messages of one thread whose pruning is undone: each is read for every context. */
  undoneMessagesMax: 5_000,
  /** A cursor: a name with each of its characters as three bytes, in base 64, and what tells its list. */
  cursorCharactersMax: 1_000,
  /** Entries of one page of a list. */
  pageItemsMax: 500,
  /** Messages or iterations in one request over HTTP; further ones go into another request. */
  httpListItemsMax: 5_000,
  /** One request's body over HTTP where it brings texts: the largest message with every character escaped. */
  httpBodyBytesMax: 64 * 1024 * 1024,
  /** One request's body over HTTP where it only says what is wanted. */
  httpSmallBodyBytesMax: 256 * 1024,
  /** What a snapshot is saved for, in words. */
  snapshotDescriptionCharactersMax: 1_000,
  /** A snapshot as JSON: some ten million tokens. Larger windows are refused, and hold no process up. */
  snapshotCharactersMax: 64_000_000,
  /** A request in the job that asks for its context, as JSON; a larger one is stored before. */
  requestInJobCharactersMax: 64_000,
  /** An answer within a reply, in bytes: a context of about 15,000 tokens, deflated 60,000. A larger one is read from the store. */
  answerBytesMax: 88_000,
  /** How long a caller may wait for one reply, in milliseconds. */
  waitMsMax: 600_000,
} as const
