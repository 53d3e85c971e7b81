import { createRequire } from 'node:module'
import * as ai5 from 'ai'
import * as ai6 from 'ai-6'

/** The versions of the provider's interface, by those of the AI SDK. */
const INTERFACES = { 5: 'v2', 6: 'v3', 7: 'v4' } as const

const first = replacedMajor() ?? 5

/** The versions as users import them. A wrapped model is used by the version's own functions. */
export const versions = [named(first, ai5), ...(first === 6 ? [] : [named(6, ai6 as never)])]

function named(major: keyof typeof INTERFACES, sdk: typeof ai5) {
  const { wrapLanguageModel, generateText, streamText, stepCountIs } = sdk
  const functions = { wrapLanguageModel, generateText, streamText, stepCountIs }
  return { version: INTERFACES[major], title: `version ${major}`, ...functions }
}

/** `npm run verify:install` puts others in the place of version 5, of which some want a later Node than the oldest one of Heddle. */
function replacedMajor(): keyof typeof INTERFACES | null {
  const { HEDDLE_TEST_PACKAGES: folder } = process.env
  if (folder === undefined) return null
  const { version } = createRequire(`${folder}/`)('ai/package.json') as { version: string }
  return Number.parseInt(version, 10) as keyof typeof INTERFACES
}
