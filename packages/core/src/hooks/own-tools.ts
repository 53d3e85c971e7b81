const OWN_TOOL = /^mcp__(?:plugin_heddle_)?heddle__/

/** Whether a tool is one of Heddle's, in whatever way its server was set up. */
export function isOwnTool(toolName: string): boolean {
  return OWN_TOOL.test(toolName)
}
