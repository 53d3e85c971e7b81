import type { AgentInputItem } from '@openai/agents'

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const long = (word: string) => `${word} `.repeat(40)

/** An item of each kind of the protocol, with the fields that a session has to return. */
export const itemsOfEveryKind: AgentInputItem[] = [
  { role: 'system', content: 'Be brief.', providerData: { cache: true } },
  { role: 'user', content: 'The login fails.' },
  {
    type: 'message',
    role: 'user',
    content: [
      { type: 'input_text', text: long('look') },
      { type: 'input_image', image: `data:image/png;base64,${PIXEL}`, detail: 'high' },
      { type: 'input_image', image: { id: 'file-image' } },
      { type: 'input_file', file: { url: 'https://example.com/report.pdf' }, filename: 'report.pdf' },
    ],
  },
  {
    type: 'reasoning',
    id: 'rs_1',
    content: [{ type: 'input_text', text: 'Two files.' }],
    providerData: { encrypted_content: 'gAAAA'.repeat(30) },
  },
  {
    type: 'message',
    role: 'assistant',
    id: 'msg_1',
    status: 'completed',
    content: [
      { type: 'output_text', text: long('Looking'), providerData: { annotations: [{ type: 'url_citation' }] } },
      { type: 'refusal', refusal: 'No.' },
    ],
  },
  { type: 'function_call', callId: 'c1', name: 'look', status: 'completed', arguments: `{ "at":  "${long('a')}" }` },
  { type: 'function_call', callId: 'c2', name: 'look', status: 'completed', arguments: '{broken', namespace: 'files' },
  {
    type: 'function_call_result',
    callId: 'c2',
    name: 'look',
    status: 'completed',
    output: [
      { type: 'input_text', text: long('seen') },
      { type: 'input_image', image: `data:image/png;base64,${PIXEL}` },
    ],
  },
  { type: 'function_call_result', callId: 'c1', name: 'look', status: 'completed', output: long('line') },
  {
    type: 'hosted_tool_call',
    id: 'ws_1',
    name: 'web_search_call',
    status: 'completed',
    arguments: '{"query":"tides"}',
    output: 'ok',
  },
  { type: 'computer_call', callId: 'cc', status: 'completed', action: { type: 'screenshot' } },
  {
    type: 'computer_call_result',
    callId: 'cc',
    output: { type: 'computer_screenshot', data: `data:image/png;base64,${PIXEL}` },
  },
  { type: 'shell_call', callId: 'sh', status: 'completed', action: { commands: ['ls -la'] } },
  {
    type: 'shell_call_output',
    callId: 'sh',
    output: [{ stdout: long('file'), stderr: '', outcome: { type: 'exit', exitCode: 0 } }],
  },
  {
    type: 'apply_patch_call',
    callId: 'ap',
    status: 'completed',
    operation: { type: 'update_file', path: 'a.ts', diff: '@@ -1 +1 @@' },
  },
  { type: 'apply_patch_call_output', callId: 'ap', status: 'completed', output: 'Done' },
  { type: 'unknown', id: 'x1', providerData: { type: 'new_kind', $heddle: 'content', nested: [null, 1, true] } },
]
