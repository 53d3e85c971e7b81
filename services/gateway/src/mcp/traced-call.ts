import { mcpTools } from '@heddle/contracts'
import { currentTrace, traced } from '@heddle/runtime'

/**
 * Runs a request of the protocol as a span. The caller's trace is in its parameters (`_meta.traceparent`), because several
 * requests may share one of HTTP, and standard input has no headers; that of HTTP is then linked.
 */
export function tracedCall<T>(method: string, params: object, work: () => Promise<T>): Promise<T> {
  const { name, _meta } = params as { readonly name?: unknown; readonly _meta?: unknown }
  const given = (_meta as { readonly traceparent?: unknown } | null | undefined)?.traceparent
  const carrier = typeof given === 'string' ? given : undefined
  const around = currentTrace()
  // A name that is not a tool is anything that the caller wrote.
  const tool = method === 'tools/call' && typeof name === 'string' && Object.hasOwn(mcpTools, name) ? name : undefined
  return traced(
    tool === undefined ? method : `${method} ${tool}`,
    {
      kind: 'server',
      ...(carrier !== undefined && { parent: carrier, links: around === undefined ? [] : [around] }),
      attributes: {
        'mcp.method.name': method,
        ...(tool !== undefined && { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': tool }),
      },
    },
    async (span) => {
      const result = await work()
      if ((result as { readonly isError?: unknown } | null)?.isError === true) span.set({ 'error.type': 'tool_error' })
      return result
    },
  )
}
