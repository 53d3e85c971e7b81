import type { McpToolName } from './mcp.js'

/** What a model is told of a tool's fields, by their paths. */
interface ToolWords {
  /** Of each field that it takes. */
  readonly input: Readonly<Record<string, string>>
  /** Of the fields that it gives and a model acts on; answers have more to them. */
  readonly output: Readonly<Record<string, string>>
}

const MOMENT = 'A time, or how long ago: 90s, 1h, 7d'
const REFERENCE = 'Takes the full text back with recall'

const page = {
  limit: 'Entries of a page',
  cursor: 'nextCursor of the page before',
}
const nextCursor = 'Gives the next page as cursor; null on the last'

const snapshot = {
  id: 'What restore_snapshot takes',
  description: 'What it was saved for',
  summary: 'What the window was about',
  timestamp: 'When it was saved',
  messageCount: 'Messages in it',
}

export const mcpWords: Readonly<Record<McpToolName, ToolWords>> = {
  recall: {
    input: {
      ref: 'Reference as it is shown: msg-1a2b3c4d, [recall:...] or nexora://project/thread/msg-1a2b3c4d; may end in :L10-50, :match-3 or :tool-2',
      lines: 'Only these lines, from 1: 10-50 or 7',
      search: 'Only lines that hold this text, in any case; no regular expression',
      maxTokens: 'Tokens to bring back at most, 2000 by default',
      thread: 'Thread that a short reference is of',
      offset: 'Raw piece from this character on, from 0; without lines, search and maxTokens',
      limit: 'Characters of such a piece',
    },
    output: {
      ref: 'Full reference that was found',
      contentType: 'file_view, grep, bash, edit, assistant, other, or a role',
      content: 'The text, as far as asked for',
      filePaths: 'Files that it is about',
      truncated: 'Whether more is left; its last line says how to get it',
      linesTotal: 'Lines of the whole text',
      nextOffset: 'Gives the next piece as offset; null at the end',
    },
  },
  search: {
    input: {
      query: 'Words in any order; rare ones count more',
      agent: 'Only threads of this agent',
      thread: 'Only this thread',
      kinds: 'Only these kinds of messages',
      path: 'Only what is about this file or folder',
      since: `Only from then on. ${MOMENT}`,
      until: 'Only before then',
      limit: 'Hits at most',
      by: 'Rank by words, by meaning, or both',
    },
    output: {
      items: 'Hits, best first',
      'items[].ref': REFERENCE,
      'items[].thread': 'Its thread',
      'items[].at': 'When it was said',
      'items[].text': 'Where the words stand',
      degraded: 'Why meaning did not take part; null where it did',
    },
  },
  build_context: {
    input: {
      thread: 'Thread whose messages it is made of',
      agent: 'Agent of a thread that may not exist yet',
      message: 'New message of the user at its end; not stored',
      model: 'Model that will read it: bounds the tokens',
      budget: 'Tokens at most; by default what the model takes',
      strategy: 'How older messages are fitted in; sandwich by default',
      fill: 'cache: compacted for a thread that goes on; budget: as much as fits',
      rollingWindow: 'Seconds of history shown; null: all',
      iterations: 'For the strategy iterations',
      'iterations.rawWindowSize': 'Newest iterations that are not summarized',
      'iterations.summarizeEvery': 'Iterations between summaries',
      'iterations.shownIterations': 'Newest iterations with outputs',
      'iterations.shownCharacters': 'Characters shown of an output',
      format: "Form of the messages: neutral, or a provider's",
      counter: 'How tokens are counted: o200k, or four characters each',
      memories: 'Recall earlier messages about the request',
      'memories.tokensMax': 'Tokens of memories at most',
      'memories.limit': 'Memories at most',
      'memories.minScore': 'Least score, 0 to 1',
      prebuild: 'Prepare the next one in the background',
      scope: 'What it may tell of',
      'scope.threads': 'Only these threads of the agent, as one conversation',
      'scope.since': `Only from then on. ${MOMENT}`,
      'scope.items': 'All, none, or these items, such as rule/tone',
      'scope.memories': 'Whether earlier messages are recalled',
      at: 'Past time: what the same request got then',
    },
    output: {
      id: 'Reads it again as heddle://contexts/ID, with its receipt',
      tokensUsed: 'Tokens of it',
      summaryUsed: 'Whether a summary stands for older messages',
      messages: 'In the format that was asked for',
      notes: 'What the reader should know of it',
    },
  },
  list_threads: {
    input: { agent: 'Only threads of this agent', ...page },
    output: {
      items: 'Threads by name',
      'items[].thread': 'Its name for other tools',
      'items[].agent': 'Its agent',
      'items[].title': 'What people call it',
      'items[].status': 'How it stands',
      'items[].messages': 'Messages in it',
      'items[].lastMessageAt': 'When the last one came',
      nextCursor,
    },
  },
  history: {
    input: { thread: 'Thread to read', ...page, order: 'desc: newest first' },
    output: {
      items: 'Messages in order',
      'items[].reference': REFERENCE,
      'items[].role': 'Who speaks',
      'items[].content': 'The whole text',
      'items[].toolCalls': 'Calls that it makes',
      'items[].toolName': 'Tool whose result it is',
      'items[].orderedAt': 'Its time',
      'items[].inWindow': 'Whether contexts may show it',
      nextCursor,
    },
  },
  append_messages: {
    input: {
      agent: 'Agent that the thread belongs to',
      thread: 'Thread that they are added to',
      format: "Form of the messages: neutral, or a provider's",
      contextId: 'Context that the replies answer',
      newAgentRollingWindow: 'rollingWindow of an agent that is made',
      messages: 'In the order of the conversation',
      'messages[].id': 'UUID of your own: the same one again is stored once',
      'messages[].sourceId': 'Its id where it comes from',
      'messages[].role': 'Who speaks; error and approval never reach a model',
      'messages[].content': 'The text; empty where there are calls alone',
      'messages[].parts': 'Images, documents and sounds',
      'messages[].parts[].type': 'What it is',
      'messages[].parts[].mediaType': 'Such as image/png',
      'messages[].parts[].data': 'Its bytes in base64',
      'messages[].parts[].url': 'Instead of data; never fetched',
      'messages[].parts[].fileId': 'Instead of data: id at a provider',
      'messages[].parts[].name': 'Name of its file',
      'messages[].parts[].detail': 'How closely a model looks',
      'messages[].parts[].offset': 'Its place in content',
      'messages[].parts[].width': 'Pixels',
      'messages[].parts[].height': 'Pixels',
      'messages[].parts[].pages': 'Pages of a document',
      'messages[].thinking': 'Reasoning before the text',
      'messages[].thinking[].text': 'What was thought',
      'messages[].thinking[].signature': "The provider's mark, unchanged",
      'messages[].thinking[].redacted': 'What the provider hid, unchanged',
      'messages[].toolCalls': 'Calls of an assistant',
      'messages[].toolCalls[].id': 'Id that the result names',
      'messages[].toolCalls[].name': 'Tool that is called',
      'messages[].toolCalls[].arguments': 'Object or text that the tool gets',
      'messages[].toolCallId': 'Of a result: id of its call',
      'messages[].toolName': 'Of a result: its tool',
      'messages[].isError': 'Of a result: whether the tool failed',
      'messages[].sentAt': 'When it was said, with a zone',
      'messages[].model': 'Model that wrote it',
      'messages[].usage': 'Tokens as the provider reported them',
      'messages[].contextId': 'Context that it answers',
      'messages[].pinned': 'Never condensed or left out',
      'messages[].keptAside': 'Kept, and shown in no context',
      'messages[].metadata': 'Anything else to keep',
    },
    output: {
      stored: 'Messages that were added',
      repeated: 'Messages that were there before',
      warnings: 'Messages that contexts do not show',
    },
  },
  save_snapshot: {
    input: { agent: 'Agent whose window is saved', description: 'What it is saved for' },
    output: { ...snapshot, summaryError: 'Why there is no summary' },
  },
  list_snapshots: {
    input: { agent: 'Agent whose snapshots are listed', ...page },
    output: {
      items: 'Snapshots, newest first',
      ...Object.fromEntries(Object.entries(snapshot).map(([name, words]) => [`items[].${name}`, words])),
      nextCursor,
    },
  },
  restore_snapshot: {
    input: { id: 'Snapshot as list_snapshots shows it' },
    output: {
      restored: 'Messages brought back',
      present: 'Messages that were shown anyway',
      threads: 'Threads that they are in',
    },
  },
  clear_context: {
    input: {
      agent: 'Agent whose windows begin anew',
      clearedAt: 'When: now by default, with a zone; never before an earlier clear',
    },
    output: { clearedAt: 'When the windows begin', threads: 'Threads with messages before it' },
  },
}
