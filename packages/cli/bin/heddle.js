#!/usr/bin/env node
import process from 'node:process'
import { setFlagsFromString } from 'node:v8'

// Most commands read some modules, ask and end. Left to itself the engine reserves 32 MB for new objects while it reads them.
// It has to be told before; processes that run for long take it back with limitHeapGrowth.
setFlagsFromString('--semi-space-growth-factor=1')
const { main } = await import('../dist/main.js')

// Warnings to the authors of dependencies tell users nothing, and stderr holds at most one error object with --json.
process.noDeprecation = true

await main(process.argv.slice(2))
