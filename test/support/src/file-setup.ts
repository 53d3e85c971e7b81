import { afterAll } from 'vitest'
import { endFile } from './after-file.js'

// This is evaluated for each test file, also where files share their modules.
afterAll(endFile)
