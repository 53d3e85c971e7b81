import { expect, it } from 'vitest'
import { AnthropicReplies } from './anthropic-replies.js'
import { anthropicRequestFaults } from './anthropic-rules.js'
import type { Fields } from './fields.js'
import { signatureOf } from './signatures.js'

const mark = { type: 'ephemeral' }
const text = (said: string) => ({ type: 'text', text: said })
const thinking = (thought: string) => ({ type: 'thinking', thinking: thought, signature: signatureOf(thought) })
const call = (id: string) => ({ type: 'tool_use', id, name: 'read_file', input: {} })
const result = (id: string, fields: object = {}) => ({
  type: 'tool_result',
  tool_use_id: id,
  content: 'done',
  ...fields,
})
const user = (...content: object[]) => ({ role: 'user', content })
const assistant = (...content: object[]) => ({ role: 'assistant', content })
const search = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'a' } }
const found = { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] }
const tools = [{ name: 'read_file', input_schema: { type: 'object' } }]
const png = Buffer.from('not a picture').toString('base64')
const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } }
const document = { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'a text' } }

const body = (messages: unknown, fields: object = {}): Fields => ({
  model: 'claude-opus-4-5',
  max_tokens: 1024,
  tools,
  messages,
  ...fields,
})
const start = user(text('Begin.'))
const loop = [start, assistant(call('a'), call('b')), user(result('a'), result('b'))]

it.each<[string, Fields]>([
  ['parallel calls with their results', body(loop)],
  ['a text beside the results', body([start, assistant(call('a')), user(result('a'), text('And go on.'))])],
  [
    'results in two messages of one turn',
    body([start, assistant(call('a'), call('b')), user(result('a')), user(result('b'))]),
  ],
  ['reasoning with its signature', body([start, assistant(thinking('Hm.'), call('a')), user(result('a'))])],
  [
    'a search by the server, and reasoning after it',
    body([start, assistant(search, found, thinking('So.'), text('Yes.')), start]),
  ],
  ['a paused turn', body([start, assistant(text('I search.'), search)])],
  ['an image and a document', body([user(image, document)])],
  [
    'a compaction by the provider',
    body([start, assistant({ type: 'compaction', content: 'Said.' }, text('Yes.')), start]),
  ],
  [
    'reasoning between texts of an adaptive model',
    body([start, assistant(text('a'), thinking('Hm.'), call('a')), user(result('a'))], {
      thinking: { type: 'adaptive' },
    }),
  ],
  [
    'four marks',
    body([user({ ...text('a'), cache_control: mark })], {
      system: [{ ...text('s'), cache_control: { ...mark, ttl: '1h' } }],
    }),
  ],
])('accepts %s', (_what, request) => {
  expect(anthropicRequestFaults(request)).toEqual([])
})

const marked = Array.from({ length: 5 }, (_, index) => ({ ...text(`part ${index}`), cache_control: mark }))

it.each<[string, unknown, string]>([
  ['a body that is a list', [], 'not an object'],
  ['a request without a model', body([start], { model: '' }), 'model: field required'],
  ['a request without max_tokens', body([start], { max_tokens: 0 }), 'max_tokens'],
  ['half of a surrogate pair', body([user(text('\ud83d'))]), 'surrogate'],
  ['a request without messages', body([]), 'at least one message'],
  ['an unknown role', body([{ role: 'tool', content: 'a' }]), 'unexpected tool'],
  ['a system prompt among the messages', body([{ role: 'system', content: 'a' }, start]), 'unexpected system'],
  ['an empty block of the system prompt', body([start], { system: [text('')] }), 'system: text content blocks'],
  ['an assistant at the beginning', body([assistant(text('Hello.'))]), 'first message must use the "user" role'],
  ['a message without blocks', body([user(), start]), 'non-empty content'],
  ['a content that is a number', body([{ role: 'user', content: 1 }]), 'content: field required'],
  ['an empty text', body([user(text(''))]), 'must be non-empty'],
  ['a text of spaces', body([user(text(' \n'))]), 'non-whitespace'],
  ['a text block without a text', body([user({ type: 'text' })]), 'text: field required'],
  ['a system prompt that is a number', body([start], { system: 1 }), 'system: input should be a text'],
  ['a cache mark on an empty text', body([user({ ...text(''), cache_control: mark })]), 'cannot be set for empty'],
  [
    'a search without arguments',
    body([start, assistant({ ...search, input: 1 }, found, text('a')), start]),
    'server_tool_use.input',
  ],
  ['a result with an id with a space', body([user(result('a b'))]), 'tool_result.tool_use_id'],
  ['a result whose is_error is a text', body([user(result('a', { is_error: 'yes' }))]), 'should be a boolean'],
  ['a block of an unknown type', body([user({ type: 'video' })]), "input tag 'video'"],
  [
    'an image of a wrong type',
    body([user({ ...image, source: { ...image.source, media_type: 'image/tiff' } })]),
    'image.source',
  ],
  ['an image of an assistant', body([start, assistant(image, text('See.')), start]), 'only be in `user`'],
  [
    'a call without a result',
    body([start, assistant(call('a')), start]),
    'without `tool_result` blocks immediately after: a',
  ],
  [
    'a call of which one result is missing',
    body([start, assistant(call('a'), call('b')), user(result('a'))]),
    'immediately after: b',
  ],
  [
    'a result that comes a message later',
    body([start, assistant(call('a')), start, assistant(text('Yes.')), user(result('a'))]),
    'unexpected `tool_use_id`',
  ],
  ['a call at the end', body([start, assistant(call('a'))]), 'immediately after: a'],
  ['a result without a call', body([user(result('a'))]), 'unexpected `tool_use_id`'],
  ['two results of a call', body([start, assistant(call('a')), user(result('a'), result('a'))]), 'single result'],
  ['a text before the results', body([start, assistant(call('a')), user(text('So.'), result('a'))]), 'must come first'],
  ['a call id twice', body([...loop, ...loop.slice(1)]), 'must be unique, a'],
  ['a call id with a space', body([start, assistant(call('a b')), user(result('a b'))]), 'tool_use.id'],
  ['a call of a user', body([user(call('a')), user(result('a'))]), '`tool_use` blocks can only be in `assistant`'],
  [
    'a call without an object of arguments',
    body([start, assistant({ ...call('a'), input: '{}' }), user(result('a'))]),
    'valid dictionary',
  ],
  [
    'a call of a name with a dot',
    body([start, assistant({ ...call('a'), name: 'a.b' }), user(result('a'))]),
    'tool_use.name',
  ],
  [
    'an error without a text',
    body([start, assistant(call('a')), user(result('a', { is_error: true, content: '' }))]),
    'cannot be empty if `is_error`',
  ],
  [
    'a result with an empty text block',
    body([start, assistant(call('a')), user(result('a', { content: [text('')] }))]),
    'tool_result.content',
  ],
  [
    'reasoning whose text was changed',
    body([start, assistant({ ...thinking('Hm.'), thinking: 'Hm' }, text('a')), start]),
    'invalid `signature`',
  ],
  [
    'reasoning whose signature was changed',
    body([start, assistant({ ...thinking('Hm.'), signature: 'x' }, text('a')), start]),
    'invalid `signature`',
  ],
  [
    'reasoning after a text',
    body([start, assistant(text('a'), thinking('Hm.'), call('a')), user(result('a'))]),
    'thinking blocks must come first',
  ],
  ['reasoning at the end', body([start, assistant(thinking('Hm.')), start]), 'final block'],
  [
    'encrypted reasoning without data',
    body([start, assistant({ type: 'redacted_thinking' }, text('a')), start]),
    'redacted_thinking.data',
  ],
  [
    'a search without its result',
    body([start, assistant(search, text('Yes.')), start]),
    'without its result: srvtoolu_1',
  ],
  [
    'a result of a search without its call',
    body([start, assistant(found, text('Yes.')), start]),
    'web_search_tool_result',
  ],
  [
    'a search with the id of a client call',
    body([start, assistant({ ...search, id: 'toolu_1' }, { ...found, tool_use_id: 'toolu_1' }), start]),
    'srvtoolu_',
  ],
  ['five cache marks', body([user(...marked)]), 'found 5'],
  [
    'a cache mark of another type',
    body([user({ ...text('a'), cache_control: { type: 'lasting' } })]),
    'must be ephemeral',
  ],
  ['a cache mark of another time', body([user({ ...text('a'), cache_control: { ...mark, ttl: '2h' } })]), '5m or 1h'],
  [
    'a mark of an hour after one of minutes',
    body([user(marked[0] as object, { ...text('a'), cache_control: { ...mark, ttl: '1h' } })]),
    "ttl='1h'",
  ],
  [
    'a cache mark on reasoning',
    body([start, assistant({ ...thinking('Hm.'), cache_control: mark }, text('a')), start]),
    'cannot have cache_control',
  ],
  [
    'a fifth mark inside of a result',
    body([start, assistant(call('a')), user(result('a', { content: [marked[4]] }), ...marked.slice(0, 4))]),
    'found 5',
  ],
  ['calls without tools', body(loop, { tools: [] }), 'must define tools'],
  ['two tools of one name', body([start], { tools: [...tools, ...tools] }), 'must be unique, read_file'],
  [
    'a tool of a long name',
    body([start], { tools: [{ ...tools[0], name: 'x'.repeat(129) }] }),
    'does not match the pattern',
  ],
  ['a tool without a schema', body([start], { tools: [{ name: 'a' }] }), 'no input_schema'],
  ['a continued text that ends with a space', body([start, assistant(text('It is '))]), 'trailing whitespace'],
])('refuses %s', (_what, request, rule) => {
  const faults = anthropicRequestFaults(request)
  expect(faults.join('\n')).toContain(rule)
})

const issued = [thinking('First.'), call('a')]
const inLoop = (...content: object[]) =>
  body([start, assistant(...content), user(result('a'))], { thinking: { type: 'enabled', budget_tokens: 2048 } })

it.each<[string, Fields, string]>([
  ['removed', inLoop(call('a')), 'removed inside a tool loop'],
  ['replaced by other signed reasoning', inLoop(thinking('Second.'), call('a')), 'cannot be modified'],
])('refuses reasoning that was %s inside of the current tool loop', (_what, request, rule) => {
  const replies = new AnthropicReplies()
  replies.issue(issued)
  expect(replies.faults(request).join('\n')).toContain(rule)
  expect(replies.faults(inLoop(...issued))).toEqual([])
})

it('accepts that reasoning of an earlier loop was removed, or of a request without thinking', () => {
  const replies = new AnthropicReplies()
  replies.issue(issued)
  const later = inLoop(call('a'))
  expect(replies.faults({ ...later, messages: [...(later['messages'] as object[]), start] })).toEqual([])
  expect(replies.faults({ ...later, thinking: undefined })).toEqual([])
})
