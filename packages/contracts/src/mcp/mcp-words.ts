import type { McpToolName } from './mcp.js'

/** Descriptions of a tool's fields for a model, by their paths. */
interface ToolWords {
  /** For each input field; null for one that programs set and no model does, which is taken and not listed. */
  readonly input: Readonly<Record<string, string | null>>
  /** For the output fields that a model acts on; answers have more. */
  readonly output: Readonly<Record<string, string>>
}

const SINCE = 'Only from this time on, or for so long: 90s, 1h, 7d'
const REFERENCE = 'The ref for recall'

const place = {
  ref: 'Reference of the message as shown',
  thread: 'Thread of a short reference',
}

const page = {
  limit: 'Entries of a page',
  cursor: 'nextCursor of the page before',
}
const nextCursor = 'null at the end'

const block = {
  scope: 'As the block says',
  owner: 'Its agent or thread, by default of this conversation',
  label: 'As the block says',
  ifVersion: 'The version you read; refused if it changed',
}
const changedBlock = { version: 'Its new version' }

const snapshot = {
  id: 'The id for restore_snapshot',
  description: 'Why it was saved',
  summary: 'Summary of the window',
  timestamp: 'When it was saved',
  messageCount: 'Messages in it',
}

export const mcpWords: Readonly<Record<McpToolName, ToolWords>> = {
  recall: {
    input: {
      ref: 'As shown: msg-1a2b3c4d, [recall:...] or in full; may end in :L10-50, :match-3 or :tool-2',
      lines: 'Only these lines, from 1: 10-50 or 7',
      search: 'Only lines with this text, in any case; no regular expression',
      maxTokens: 'Most tokens, 2000 by default',
      thread: 'Thread of a short reference',
      offset: 'Raw piece from this character on, from 0; without lines, search and maxTokens',
      limit: 'Characters of such a piece',
    },
    output: {
      ref: 'Full reference that was found',
      contentType: 'file_view, grep, bash, edit, assistant, other, or a role',
      content: 'The requested text',
      truncated: 'More is left; the last line says how to get it',
      linesTotal: 'Lines of the whole text',
      nextOffset: 'offset of the next piece; null at the end',
    },
  },
  search: {
    input: {
      query: 'Words in any order; rare ones count more',
      agent: 'Only threads of this agent',
      thread: 'Only this thread',
      kinds: 'Only these kinds of messages',
      path: 'Only messages about this file or folder',
      instructions: 'Only lasting instructions and preferences',
      since: SINCE,
      until: 'Only before this time',
      from: 'Only about this time or a later one: dates in the text count',
      to: 'Only about an earlier time',
      limit: 'Most hits',
      by: 'Rank by words, by meaning, or both',
      sort: 'Best first, or by time',
      explain: 'Each hit says why it has its place',
    },
    output: {
      items: 'Hits',
      'items[].ref': REFERENCE,
      'items[].thread': 'Its thread',
      'items[].at': 'When it was said',
      'items[].moment': 'The time that it is about',
      'items[].supersededBy': 'messageId of a newer statement of the value',
      'items[].text': 'Text around the matched words',
      degraded: 'Why vectors were not used; null if they were',
    },
  },
  archive: {
    input: {
      query: 'Words to rank by',
      agent: 'Only threads of this agent',
      thread: 'Only this thread',
      kinds: 'Only these kinds',
      tool: 'Only results of this tool',
      path: 'Only this file or folder',
      failed: 'Only failures, or none',
      since: SINCE,
      until: 'Only before this time',
      ...page,
    },
    output: {
      items: 'Contents without their text',
      'items[].ref': REFERENCE,
      'items[].thread': 'Its thread',
      'items[].text': 'The line that replaces it',
      'items[].at': 'When it was said',
      nextCursor,
    },
  },
  pin: {
    input: {
      ...place,
      until: 'When the pin ends, with a zone',
      remove: 'Take the pin back',
    },
    output: { messages: 'Messages changed; 0: it was so already' },
  },
  erase_message: {
    input: place,
    output: {
      removed: 'Removed rows, by kind',
      finished: 'false: the rest follows; all is hidden already',
    },
  },
  compress: {
    input: { thread: 'Thread to compact' },
    output: {
      compacted: 'false: nothing was left to compact',
      tokensAfter: 'Its tokens in a context from now on',
      summary: 'In contexts now; null without one',
    },
  },
  uncompact: {
    input: {
      ...place,
      redo: 'Let compactions condense it again',
    },
    output: { messages: 'Messages changed; 0: it was so already' },
  },
  summaries: {
    input: {
      thread: 'Thread whose summaries are listed',
      summary: 'Id of a summary: list its messages instead',
      ...page,
    },
    output: {
      items: 'Summaries, each before its parts; or messages, oldest first',
      'items[].id': 'Id of the summary',
      'items[].kind': 'whole, part, or leaf',
      'items[].children': 'Ids of its parts',
      'items[].summary': 'Its text',
      'items[].reference': REFERENCE,
      'items[].content': 'The whole text of the message',
      nextCursor,
    },
  },
  why: {
    input: { ref: 'Reference of a message as shown', thread: 'Its thread' },
    output: { lines: 'Sentences' },
  },
  facts: {
    input: {
      agent: 'The agent',
      thread: 'Only facts of this thread',
      asOf: 'Only those that held at this time',
      query: 'A question',
      ...page,
    },
    output: {
      items: 'Facts',
      'items[].id': 'For corrects and retract_fact',
      'items[].statement': 'The sentence that says so',
      'items[].validFrom': 'Since when it holds',
      'items[].supersededBy': 'id of the fact that replaced it',
      'items[].conflictsWith': 'ids of facts that deny it',
      nextCursor,
    },
  },
  put_fact: {
    input: {
      agent: 'The agent',
      subject: 'Of what',
      predicate: 'Such as is or lives in',
      object: 'The value or the thing',
      thread: 'Only if it holds in this thread alone',
      single: 'A later value of the same subject and predicate replaces it',
      corrects: 'id of the fact that was wrong',
    },
    output: { id: 'Its id' },
  },
  retract_fact: {
    input: { agent: 'The agent', id: 'As facts show it' },
    output: { retractedAt: 'When it was retracted' },
  },
  build_context: {
    input: {
      thread: 'Thread to show',
      agent: 'Agent of a new thread',
      message: 'New message of the user at its end; not stored',
      model: 'Model that will read it: limits the tokens',
      budget: 'Most tokens; by default the model window',
      strategy: 'How older messages fit in; default sandwich',
      fill: 'cache: compacted to go on; budget: as much as fits',
      rollingWindow: 'Seconds of history shown; null: all',
      iterations: 'For the strategy iterations',
      'iterations.window': 'adaptive: what fits',
      'iterations.rawWindowSize': 'Newest iterations kept raw',
      'iterations.summarizeEvery': 'Iterations between summaries',
      'iterations.shownIterations': 'Newest iterations with outputs',
      'iterations.shownCharacters': 'Characters shown of an output',
      format: "neutral, or a provider's",
      counter: 'How tokens are counted: exactly, or by characters',
      memories: 'Recall earlier messages about the request',
      'memories.tokensMax': 'Most tokens of memories',
      'memories.limit': 'Most memories',
      'memories.minScore': 'Lowest score, 0 to 1',
      'memories.instructions': 'Lasting instructions and preferences too',
      ledger: 'Files and commands',
      'ledger.tokensMax': null,
      facts: 'Recorded facts',
      'facts.tokensMax': null,
      'facts.limit': null,
      prebuild: 'Prepare the next one',
      store: 'false: a preview, of which nothing is stored',
      scope: 'Limits the contents',
      'scope.threads': 'Only these threads of the agent, as one conversation',
      'scope.since': SINCE,
      'scope.items': 'All, none, or these items, such as rule/tone',
      'scope.memories': 'false: recall nothing',
      at: 'A past time: the context built then',
    },
    output: {
      id: 'heddle://contexts/ID shows its receipt',
      messages: 'In the requested format',
      notes: 'Notes for the reader',
    },
  },
  list_threads: {
    input: { agent: 'Only threads of this agent', search: 'Part of the name or title', ...page },
    output: {
      items: 'Threads',
      'items[].thread': 'Its name in other tools',
      'items[].title': 'Title for people',
      'items[].messages': 'Messages in it',
      'items[].lastMessageAt': 'When the last one was sent',
      nextCursor,
    },
  },
  history: {
    input: {
      thread: 'Thread to read',
      agent: 'Agent whose threads are read',
      sourceId: 'Id at the source',
      ...page,
      order: 'desc: newest first',
    },
    output: {
      items: 'Messages in order',
      'items[].thread': 'Its thread',
      'items[].reference': REFERENCE,
      'items[].content': 'The whole text',
      'items[].toolCalls': 'Calls that it makes',
      'items[].toolName': 'Tool whose result it is',
      'items[].inWindow': 'Whether contexts may show it',
      nextCursor,
    },
  },
  append_messages: {
    input: {
      agent: 'Its agent',
      thread: 'Thread to append to',
      format: "neutral, or a provider's",
      contextId: 'Context that the replies answer',
      context: 'Also return the next context',
      'context.budget': 'Most tokens',
      newAgentRollingWindow: 'rollingWindow of an agent created by this',
      messages: 'In the order of the conversation',
      'messages[].id': 'A UUID of yours',
      'messages[].sourceId': 'Its id at the source',
      'messages[].role': 'error and approval never reach a model',
      'messages[].content': 'The text; empty for only calls',
      'messages[].parts': 'Images, documents and sounds',
      'messages[].parts[].type': 'The type',
      'messages[].parts[].mediaType': 'Such as image/png',
      'messages[].parts[].data': 'Its bytes in base64',
      'messages[].parts[].url': 'Instead of data; never fetched',
      'messages[].parts[].fileId': 'Instead of data: id at a provider',
      'messages[].parts[].name': 'Name of its file',
      'messages[].parts[].detail': null,
      'messages[].parts[].offset': null,
      'messages[].parts[].width': null,
      'messages[].parts[].height': null,
      'messages[].parts[].pages': null,
      'messages[].thinking': null,
      'messages[].toolCalls': 'Calls of an assistant',
      'messages[].toolCalls[].id': 'Id to be named by the result',
      'messages[].toolCalls[].name': 'Tool that is called',
      'messages[].toolCalls[].arguments': 'Arguments, as an object or a text',
      'messages[].toolCallId': 'Of a result: id of its call',
      'messages[].toolName': 'Of a result: its tool',
      'messages[].isError': 'Of a result: the tool failed',
      'messages[].sentAt': 'When it was said, with a zone',
      'messages[].model': 'Model that wrote it',
      'messages[].usage': 'Tokens as the provider reported them',
      'messages[].contextId': 'Context that it answers',
      'messages[].pinned': 'Never condensed or left out',
      'messages[].keptAside': 'Stored, but in no context',
      'messages[].metadata': 'Any other data to store',
    },
    output: {
      stored: 'Messages added',
      repeated: 'Messages stored before',
      warnings: 'Messages that contexts do not show',
    },
  },
  memory_blocks: {
    input: { thread: 'Its blocks, those of its agent, and of the project', agent: 'Without thread: those of an agent' },
    output: {
      items: 'Blocks in the order of contexts',
      'items.scope': 'project, agent or thread',
      'items.label': 'Its name',
      'items.value': 'Its text',
      'items.version': 'For ifVersion',
    },
  },
  memory_insert: {
    input: { ...block, text: 'One line, or several', afterLine: 'Lines before it; by default all' },
    output: changedBlock,
  },
  memory_replace: {
    input: { ...block, oldText: 'A part that occurs once', newText: 'Empty: the part is removed' },
    output: changedBlock,
  },
  memory_rethink: { input: { ...block, value: 'The whole new value' }, output: changedBlock },
  save_snapshot: {
    input: { agent: 'Agent whose window is saved', description: 'Why it is saved' },
    output: { id: snapshot.id, summary: snapshot.summary, summaryError: 'Why there is no summary' },
  },
  list_snapshots: {
    input: { agent: 'Their agent', ...page },
    output: {
      items: 'Snapshots',
      ...Object.fromEntries(Object.entries(snapshot).map(([name, words]) => [`items[].${name}`, words])),
      nextCursor,
    },
  },
  restore_snapshot: {
    input: { id: 'Id of a snapshot' },
    output: {
      restored: 'Messages restored',
      present: 'Messages already shown',
    },
  },
  clear_context: {
    input: {
      agent: 'Agent whose windows restart',
      clearedAt: 'When: now by default, with a zone; never before an earlier clear',
    },
    output: { clearedAt: 'New start of the windows', threads: 'Threads with messages before it' },
  },
}
